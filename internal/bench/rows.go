package bench

// chatTurn returns a question, calls of the tool, their results and the answer.
func (r *random) chatTurn(t tool, l layout, sizes []int) list {
	turn := list{object{{"role", "user"}, {"content", r.text(chatter, r.size(sizes))}}}
	for range 1 + r.below(3)/2 {
		var calls list
		var results list
		for range 1 + r.below(4)/3 {
			id := "call_" + r.digits(alphanumeric, 24)
			calls = append(calls, object{{"id", id}, {"type", "function"}, {"function", object{{"name", t.name}, {"arguments", l.text(t.input(r))}}}})
			results = append(results, object{{"role", "tool"}, {"tool_call_id", id}, {"content", r.chatResult(l, sizes)}})
		}
		turn = append(append(turn, object{{"role", "assistant"}, {"content", nil}, {"tool_calls", calls}}), results...)
	}
	return append(turn, object{{"role", "assistant"}, {"content", r.answer(r.size(sizes))}})
}

// chatResult returns plain text, or JSON as a text.
func (r *random) chatResult(l layout, sizes []int) string {
	if r.one(3) {
		return r.output(r.size(sizes))
	}
	v := object{{"status", "ok"}}
	for range 1 + r.below(6) {
		v = append(v, field{r.fill("{i}_{n}"), list{r.fill("{w} {i}"), r.below(1 << 20), nil, r.one(2)}[r.below(4)]})
	}
	return l.text(v)
}

// declare returns the declarations of some tools, including t.
func (r *random) declare(t tool, each func(tool) object) list {
	var declared list
	for _, other := range tools {
		if other.name == t.name || r.one(3) {
			declared = append(declared, each(other))
		}
	}
	return declared
}

func function(t tool) object {
	return object{{"name", t.name}, {"description", t.description}, {"parameters", t.declared()}}
}

func chatRow(r *random, l layout) object {
	t := r.shortTool()
	messages := list{object{{"role", "system"}, {"content", r.text(prose, 80+r.below(400))}}}
	for range 1 + r.below(3) {
		messages = append(messages, r.chatTurn(t, l, rowSizes)...)
	}
	return object{{"messages", messages}, {"tools", r.declare(t, func(t tool) object {
		return object{{"type", "function"}, {"function", function(t)}}
	})}, {"parallel_tool_calls", true}}
}

func shareGPTRow(r *random, l layout) object {
	t := r.shortTool()
	from := func(who, value string) object { return object{{"from", who}, {"value", value}} }
	var messages list
	for range 1 + r.below(3) {
		messages = append(messages,
			from("human", r.text(chatter, r.size(rowSizes))),
			from("function_call", l.text(object{{"name", t.name}, {"arguments", t.input(r)}})),
			from("observation", r.chatResult(l, rowSizes)),
			from("gpt", r.answer(r.size(rowSizes))))
	}
	return object{{"conversations", messages}, {"system", r.text(prose, 80+r.below(300))}, {"tools", l.text(r.declare(t, function))}}
}

// messagesTurn returns a question, calls and results as blocks, and the answer.
func (r *random) messagesTurn() list {
	turn := list{object{{"role", "user"}, {"content", r.text(chatter, r.size(spokenSizes))}}}
	for range 1 + r.below(8) {
		var calls, results list
		if r.one(2) {
			calls = append(calls, object{{"type", "text"}, {"text", r.text(prose, r.size(spokenSizes))}})
		}
		for range 1 + r.below(8)/6 {
			t := tools[r.below(len(tools))]
			id := "toolu_01" + r.digits(alphanumeric, 22)
			calls = append(calls, object{{"type", "tool_use"}, {"id", id}, {"name", t.name}, {"input", t.input(r)}})
			results = append(results, object{{"type", "tool_result"}, {"tool_use_id", id}, {"content", r.output(r.size(resultSizes))}})
		}
		turn = append(turn, object{{"role", "assistant"}, {"content", calls}}, object{{"role", "user"}, {"content", results}})
	}
	return append(turn, object{{"role", "assistant"}, {"content", list{object{{"type", "text"}, {"text", r.answer(r.size(spokenSizes))}}}}})
}
