// Histories that the APIs refuse, made from a seed: whole ones, broken in the ways in which agents
// break them. What an adapter needs is made from the neutral form: {role, text}, {calls: [id...]}, and
// {result: id}.

/** Returns a function that returns numbers from 0 to n-1. */
export function random(seed) {
  let s = seed >>> 0;
  return (n) => {
    s = (Math.imul(s, 1664525) + 1013904223) >>> 0;
    return Math.floor((s / 2 ** 32) * n);
  };
}

/** Returns a whole history. */
function whole(dice) {
  const out = [{ role: 'user', text: 'question 0' }];
  const turns = 1 + dice(5);
  for (let t = 0, id = 0; t < turns; t++) {
    const calls = Array.from({ length: 1 + dice(3) }, () => `toolu_${id++}`);
    out.push({ calls }, ...calls.map((c) => ({ result: c, text: `output of ${c}` })));
    if (dice(2)) out.push({ role: 'assistant', text: `answer ${t}` }, { role: 'user', text: `question ${t + 1}` });
  }
  if (out.at(-1).role !== 'user') out.push({ role: 'assistant', text: 'done' }, { role: 'user', text: 'go on' });
  return out;
}

/** The ways in which a history breaks. Each returns whether it did. */
const faults = {
  'a lost result': (h, dice) => {
    const all = h.flatMap((m, i) => (m.result ? [i] : []));
    h.splice(all[dice(all.length)], 1);
    return true;
  },
  'a lost call': (h, dice) => {
    const all = h.flatMap((m, i) => (m.calls ? [i] : []));
    h.splice(all[dice(all.length)], 1);
    return true;
  },
  'results that are all lost': (h, dice) => {
    const all = h.flatMap((m, i) => (m.calls ? [i] : []));
    const at = all[dice(all.length)];
    h.splice(at + 1, h[at].calls.length);
    return true;
  },
  'a text before a result': (h, dice) => {
    const all = h.flatMap((m, i) => (m.calls ? [i] : []));
    h.splice(all[dice(all.length)] + 1, 0, { role: 'user', text: 'wait' });
    return true;
  },
  'a cut beginning': (h) => {
    const at = h.findIndex((m) => m.result);
    h.splice(0, at);
    return true;
  },
};

/** Returns broken histories, each with what is broken in it. */
export function histories(count, seed = 1) {
  const dice = random(seed);
  const names = Object.keys(faults);
  return Array.from({ length: count }, (_, i) => {
    const history = whole(dice);
    const name = names[i % names.length];
    faults[name](history, dice);
    return { name, history };
  });
}

/** Returns histories in which nothing is broken. */
export function wholeHistories(count, seed = 2) {
  const dice = random(seed);
  return Array.from({ length: count }, () => whole(dice));
}

/** The messages of Anthropic's API. Results of one turn are in one message. */
export function toAnthropic(history) {
  const out = [];
  let results;
  for (const m of history) {
    if (m.result) {
      if (!results) out.push({ role: 'user', content: (results = []) });
      results.push({ type: 'tool_result', tool_use_id: m.result, content: m.text });
      continue;
    }
    results = undefined;
    out.push(m.calls ? { role: 'assistant', content: m.calls.map((id) => ({ type: 'tool_use', id, name: 'read', input: { id } })) } : { role: m.role, content: m.text });
  }
  return out;
}

/** The messages of OpenAI's Chat Completions. */
export function toChat(history) {
  return history.map((m) =>
    m.result ? { role: 'tool', tool_call_id: m.result, content: m.text }
      : m.calls ? { role: 'assistant', content: null, tool_calls: m.calls.map((id) => ({ id, type: 'function', function: { name: 'read', arguments: `{"id":"${id}"}` } })) }
        : { role: m.role, content: m.text });
}

/** The items of OpenAI's Responses. */
export function toResponses(history) {
  return history.flatMap((m) =>
    m.result ? [{ type: 'function_call_output', call_id: m.result, output: m.text }]
      : m.calls ? m.calls.map((id) => ({ type: 'function_call', call_id: id, name: 'read', arguments: `{"id":"${id}"}` }))
        : [{ role: m.role, content: m.text }]);
}

/** The contents of Gemini's API. Responses of one turn are in one content. */
export function toGemini(history) {
  const out = [];
  for (const m of history) {
    if (!m.result) {
      out.push(m.calls ? { role: 'model', parts: m.calls.map((id) => ({ functionCall: { id, name: 'read', args: { id } } })) }
        : { role: m.role === 'assistant' ? 'model' : 'user', parts: [{ text: m.text }] });
      continue;
    }
    const part = { functionResponse: { id: m.result, name: 'read', response: { output: m.text } } };
    const last = out.at(-1);
    if (last?.parts[0].functionResponse) last.parts.push(part);
    else out.push({ role: 'user', parts: [part] });
  }
  return out;
}

/** The model messages of the AI SDK. */
export function toModelMessages(history) {
  return history.map((m) =>
    m.result ? { role: 'tool', content: [{ type: 'tool-result', toolCallId: m.result, toolName: 'read', output: { type: 'text', value: m.text } }] }
      : m.calls ? { role: 'assistant', content: m.calls.map((id) => ({ type: 'tool-call', toolCallId: id, toolName: 'read', input: { id } })) }
        : { role: m.role, content: m.text });
}

/** The messages of LangChain, made of its classes. */
export function toLangChain(history, { HumanMessage, AIMessage, ToolMessage }) {
  return history.map((m) =>
    m.result ? new ToolMessage({ tool_call_id: m.result, content: m.text, name: 'read' })
      : m.calls ? new AIMessage({ content: '', tool_calls: m.calls.map((id) => ({ id, name: 'read', args: { id }, type: 'tool_call' })) })
        : m.role === 'user' ? new HumanMessage(m.text) : new AIMessage(m.text));
}

/** The items of OpenAI's Agents SDK. */
export function toAgents(history) {
  return history.flatMap((m) =>
    m.result ? [{ type: 'function_call_result', callId: m.result, name: 'read', status: 'completed', output: { type: 'text', text: m.text } }]
      : m.calls ? m.calls.map((id) => ({ type: 'function_call', callId: id, name: 'read', arguments: `{"id":"${id}"}`, status: 'completed' }))
        : m.role === 'user' ? [{ role: 'user', content: m.text }] : [{ role: 'assistant', status: 'completed', content: [{ type: 'output_text', text: m.text }] }]);
}
