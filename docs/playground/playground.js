// The page: it passes what is typed to the engine, and shows the answer. All text is set as text.

/** @type {(id: string) => any} */
const by = id => document.getElementById(id)

const encoder = new TextEncoder(), decoder = new TextDecoder()

/** Longer texts are a task for the command. */
const most = 50 * 2 ** 20
/** Of so many findings, repairs and changes the page shows the first ones. */
const shown = 200
/** The field shows a part of longer texts, because browsers are slow with them. */
const longField = 1 << 20

const samples = {
	'': '',
	'Anthropic: a call without a result': '[\n  {"role": "user", "content": "What is in /srv?"},\n  {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "ls", "input": {"path": "/srv"}}]},\n  {"role": "user", "content": "Well?"}\n]\n',
	'OpenAI: a result too late': '[\n  {"role": "user", "content": "What is in /srv?"},\n  {"role": "assistant", "content": null, "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}]},\n  {"role": "user", "content": "Well?"},\n  {"role": "tool", "tool_call_id": "call_1", "content": "a.txt"}\n]\n',
	'An error': '400 messages.6: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1',
}

// The engine.

/** @type {Worker | undefined} */
let worker
/** @type {Map<number, (data: any) => void>} */
const waiting = new Map()
let last = 0
/** The size of its memory in bytes. */
let memory = 0

/** Makes a request of the engine, and returns the answer and the text that it gave, if any. */
function ask(/** @type {object} */ options, /** @type {Uint8Array} */ input) {
	if (!worker) {
		// A worker at an address of its own would have no policy. This one has that of the page.
		const code = URL.createObjectURL(new Blob([`import ${JSON.stringify(new URL('worker.js', document.baseURI))}`], { type: 'text/javascript' }))
		worker = new Worker(code, { type: 'module' })
		worker.onmessage = ({ data }) => {
			if (data.dead !== undefined) ended(data.dead)
			memory = data.memory ?? memory
			waiting.get(data.id)?.(data)
			waiting.delete(data.id)
		}
		worker.onerror = event => {
			const why = event.message || 'it could not be loaded. Is this the directory that scripts/playground/build.sh makes?'
			const calls = [...waiting.values()]
			waiting.clear()
			ended(why)
			for (const call of calls) call({ dead: why })
		}
	}
	const id = ++last, now = worker
	return new Promise(done => {
		waiting.set(id, done)
		now.postMessage({ id, options, input })
	})
}

/** A dead engine is replaced by the next request. */
function ended(/** @type {string} */ why) {
	worker?.terminate()
	worker = undefined
	tell(`The engine ended: ${why}. The next change starts a new one.`)
}

// The page.

function tell(/** @type {string} */ text) { by('status').textContent = text }

function element(/** @type {string} */ name, /** @type {string} */ text = '', /** @type {Record<string, string>} */ attributes = {}) {
	const el = document.createElement(name)
	el.textContent = text
	for (const [key, value] of Object.entries(attributes)) el.setAttribute(key, value)
	return el
}

function count(/** @type {number} */ n, /** @type {string} */ what) { return `${n.toLocaleString('en')} ${what}${n === 1 ? '' : 's'}` }

/** @type {Record<string, string>} */
const chosen = {}
/** The bytes of the input, if they are not the text of the field: those of a file. */
let held = /** @type {Uint8Array | undefined} */ (undefined)
let repaired = /** @type {Uint8Array | undefined} */ (undefined)
let called = 'history.json'

function input() { return held ?? encoder.encode(by('input').value) }

function options() {
	return {
		format: by('format').value, provider: by('provider').value, send: by('send').checked, allow: by('allow').value, name: called,
		strategies: Object.fromEntries(Object.entries(chosen).filter(([, value]) => value)),
	}
}

let turn = 0

/** Judges the input, and shows what was found. */
async function judge() {
	const now = ++turn
	const text = input()
	for (const id of ['done', 'look', 'map']) by(id).hidden = true
	by('findings').replaceChildren()
	by('explained').replaceChildren()
	repaired = undefined
	if (!text.length) return tell('Nothing yet.')
	if (text.length > most) return tell(`This text has ${(text.length / 2 ** 20).toFixed(0)} MB. The page takes ${most >> 20} MB: use toolguard check and toolguard fix --write.`)
	tell('Reading …')
	const { answer, text: fixed, diff, dead } = await ask({ operation: 'fix', ...options() }, text)
	if (now !== turn || dead !== undefined) return
	if (answer.error) {
		if (answer.error.code === 'not-transcript' || answer.error.code === 'check-only') return other(now, text, answer.error)
		return tell(answer.error.message)
	}
	show(answer.before, text)
	if (fixed) showRepair(answer.after, fixed, diff)
	by('look').hidden = false
}

/** Explains an input that is no history, or shows one that is only checked. */
async function other(/** @type {number} */ now, /** @type {Uint8Array} */ text, /** @type {any} */ error) {
	if (error.code === 'check-only') {
		const { answer } = await ask({ operation: 'check', ...options(), allow: '', strategies: {} }, text)
		if (now !== turn || !answer) return
		show(answer.before, text)
		by('explained').append(element('p', `Not repaired: it ${error.message}.`))
		by('look').hidden = false
		return
	}
	const words = text.length < 20_000 ? decoder.decode(text).trim() : ''
	const { answer } = words && !/^[[{]/.test(words) ? await ask({ operation: 'explain' }, encoder.encode(words)) : { answer: undefined }
	if (now !== turn) return
	const read = answer?.value
	if (!read?.rules.length && !read?.advice) return tell(`This is ${error.message}.`)
	tell(read.sure ? 'This error has a known cause.' : 'This error is not known. These rules find the causes of similar ones.')
	if (read.advice) by('explained').append(element('pre', read.advice))
	for (const rule of read.rules) {
		const title = element('h2')
		title.append(element('a', rule.name, { href: rule.url }))
		by('explained').append(title, element('p', rule.what), element('p', rule.why), element('p', rule.repair))
	}
	by('explained').append(element('p', 'Paste the history of the request to see where it is.', { class: 'dim' }))
}

/** Shows the findings of a report. */
function show(/** @type {any} */ report, /** @type {Uint8Array} */ text) {
	const { errors, warnings, infos } = report.summary, file = report.files?.[0]
	const findings = report.findings
	tell(`${errors + warnings ? `${count(errors, 'error')}, ${count(warnings, 'warning')}` : 'No problems'}${infos ? `, ${count(infos, 'info')}` : ''}${file?.dialect ? ` in ${file.dialect}` : ''}.`)
	for (const f of findings.slice(0, shown)) {
		const item = element('li'), go = element('button')
		go.append(element('strong', f.severity, { class: f.severity }), ` ${visible(f.place ?? `line ${f.start.line}`)}: ${visible(f.message)} `, element('span', f.rule, { class: 'dim' }))
		go.onclick = () => select(text, f.start.offset, f.end.offset)
		item.append(go)
		if (f.provider_error) item.append(element('code', visible(f.provider_error)))
		if (f.fix) item.append(element('div', `Repair: ${visible(f.fix.title)} (${f.fix.by_strategy ? 'choose a strategy' : f.fix.class})`))
		else if (f.unfixed) item.append(element('div', visible(f.unfixed), { class: 'dim' }))
		item.append(element('a', 'about this rule', { href: f.url }))
		by('findings').append(item)
	}
	if (findings.length > shown) by('findings').append(element('li', `and ${count(findings.length - shown, 'more finding')}`))
	offer(findings)
}

/** Offers the strategies of the rules that found something. */
function offer(/** @type {any[]} */ findings) {
	const focus = document.activeElement?.id
	const found = new Set(findings.map(f => f.rule))
	by('strategies').replaceChildren(...Object.entries(strategies).filter(([rule]) => found.has(rule) || chosen[rule]).map(([rule, values]) => {
		const label = element('label', rule + ' '), list = /** @type {HTMLSelectElement} */ (element('select', '', { id: 'strategy-' + rule }))
		list.append(element('option', 'default', { value: '' }), ...values.map(v => element('option', v, { value: v })))
		list.value = chosen[rule] ?? ''
		list.onchange = () => {
			chosen[rule] = list.value
			judge()
		}
		label.append(list)
		return label
	}))
	if (focus?.startsWith('strategy-')) by(focus)?.focus()
}

/** Selects bytes of the input in the field. Of a long text, it shows the part around them. */
function select(/** @type {Uint8Array} */ text, /** @type {number} */ from, /** @type {number} */ to) {
	const field = by('input'), around = 20_000
	let first = 0
	if (field.readOnly) {
		first = Math.max(0, from - around)
		while (first > 0 && (text[first] & 0xc0) === 0x80) first-- // not within a character
		field.value = decoder.decode(text.subarray(first, Math.min(to, from + around) + around))
	}
	const before = decoder.decode(text.subarray(first, from))
	field.focus()
	field.setSelectionRange(before.length, before.length + decoder.decode(text.subarray(from, Math.min(to, from + around))).length)
	// Browsers scroll to a selection only if something is typed.
	field.scrollTop = field.scrollHeight * (before.split('\n').length / (field.value.split('\n').length + 1)) - field.clientHeight / 2
}

/** Shows the repaired text. */
function showRepair(/** @type {any} */ report, /** @type {Uint8Array} */ after, /** @type {any} */ diff) {
	repaired = after
	by('done').hidden = false
	const repairs = report.applied?.[0]?.repairs ?? []
	by('repairs').replaceChildren(...repairs.slice(0, shown).map((/** @type {any} */ r) => element('li', `${visible(r.title)} (${r.class})`)))
	if (repairs.length > shown) by('repairs').append(element('li', `and ${count(repairs.length - shown, 'more repair')}`))
	const left = report.summary.errors + report.summary.warnings
	by('repairs').append(element('li', left ? `${count(left, 'problem')} left` : 'no problems left'))
	by('changes').replaceChildren(...diff.list.map((/** @type {any} */ change) => {
		const box = element('pre')
		if (change.above) box.append(element('div', visible(change.above)))
		box.append(...change.gone.map((/** @type {string} */ s) => element('del', visible(s))), ...change.fresh.map((/** @type {string} */ s) => element('ins', visible(s))))
		if (change.below) box.append(element('div', visible(change.below)))
		return box
	}))
	if (diff.more) by('changes').append(element('p', 'There are more changes. The repaired text has all of them.'))
}

/** Shows characters that are not seen, or that turn the direction of a text, as their numbers. */
function visible(/** @type {string} */ text) {
	return text.replace(/[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g, c => `⟨U+${c.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}⟩`)
}

/** Takes a file or a text as the input. */
function take(/** @type {Uint8Array} */ bytes, /** @type {string} */ from) {
	const long = bytes.length > longField, field = by('input')
	const text = decoder.decode(long ? bytes.subarray(0, 20_000) : bytes)
	called = from
	field.value = text
	field.readOnly = long
	by('long').hidden = !long
	// A field has no CR and no broken UTF-8: then the file is judged as it is.
	held = !long && field.value === text && encoder.encode(text).length === bytes.length ? undefined : bytes
	judge()
}

function save(/** @type {Uint8Array} */ bytes, /** @type {string} */ as) {
	const link = /** @type {HTMLAnchorElement} */ (element('a', '', { href: URL.createObjectURL(new Blob([/** @type {any} */ (bytes)])), download: as }))
	link.click()
	setTimeout(() => URL.revokeObjectURL(link.href), 10_000)
}

/** Shows the session as toolguard show --html does. */
async function look() {
	const now = turn
	const { answer, text } = await ask({ operation: 'page', ...options() }, input())
	if (now !== turn || !answer) return
	if (!text) return tell(answer.error?.message ?? 'There is no map.')
	const frame = by('map')
	frame.hidden = false
	if (frame.src) URL.revokeObjectURL(frame.src)
	frame.scrollIntoView({ block: 'nearest' }) // browsers draw nothing in frames out of sight
	frame.src = URL.createObjectURL(new Blob([text], { type: 'text/html' }))
}

/** @type {Record<string, string[]>} */
let strategies = {}

async function start() {
	by('sample').append(...Object.keys(samples).map(name => element('option', name || 'choose …', { value: name })))
	let timer = 0
	by('input').onpaste = (/** @type {ClipboardEvent} */ event) => {
		const text = event.clipboardData?.getData('text') ?? ''
		if (text.length < longField) return
		event.preventDefault()
		take(encoder.encode(text), 'history.json')
	}
	by('clear').onclick = () => {
		by('file').value = by('sample').value = ''
		take(new Uint8Array(), 'history.json')
		by('input').focus()
	}
	by('input').oninput = () => {
		held = undefined
		called = 'history.json'
		clearTimeout(timer)
		timer = setTimeout(judge, 300)
	}
	for (const id of ['format', 'provider', 'send', 'allow']) by(id).onchange = judge
	by('sample').onchange = () => take(encoder.encode(samples[/** @type {keyof typeof samples} */ (by('sample').value)]), 'history.json')
	by('file').onclick = () => { by('file').value = '' } // the same file again, which was changed
	by('file').onchange = async () => {
		const file = by('file').files[0]
		if (file) await read(file)
	}
	const read = async (/** @type {File} */ file) => {
		if (file.size > most) return tell(`This file has ${(file.size / 2 ** 20).toFixed(0)} MB. The page takes ${most >> 20} MB: use toolguard check and toolguard fix --write.`)
		take(new Uint8Array(await file.arrayBuffer()), file.name)
	}
	document.ondragover = event => {
		event.preventDefault()
		by('input').classList.add('over')
	}
	document.ondragleave = () => by('input').classList.remove('over')
	document.ondrop = async event => {
		event.preventDefault()
		by('input').classList.remove('over')
		const file = event.dataTransfer?.files[0]
		if (file) await read(file)
		else if (event.dataTransfer) take(encoder.encode(event.dataTransfer.getData('text')), 'history.json')
	}
	by('save').onclick = () => repaired && save(repaired, called.replace(/(\.[^.]*)?$/, '.fixed$1'))
	by('use').onclick = () => repaired && take(repaired, called)
	by('show').onclick = look
	if (location.protocol === 'file:') {
		return tell('Browsers load no engine from disk. In the directory of this page: python3 -m http.server, and then open the address that it prints.')
	}
	const { answer } = await ask({ operation: 'names' }, new Uint8Array())
	if (!answer) return
	strategies = answer.value.strategies
	by('format').append(...answer.value.formats.map((/** @type {string} */ n) => element('option', n, { value: n })))
	by('provider').append(...answer.value.providers.map((/** @type {string} */ n) => element('option', n, { value: n })))
	judge()
}

start()
