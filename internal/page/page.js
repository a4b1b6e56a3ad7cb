// What a person does on the page of a session: keys, search, the panel, before and after the repair.

/** @param {string} id */
function byID(id) {
	return /** @type {HTMLElement} */ (document.getElementById(id))
}

/** @param {string} text */
function say(text) {
	byID('say').textContent = visible(text)
}

/** @param {unknown} error */
function fail(error) {
	const note = make('p', 'note error', 'The page cannot be shown: ' + (error instanceof Error ? error.message : String(error)))
	note.setAttribute('role', 'alert')
	byID('top').append(note)
}

/** @param {string} label @param {string} title @param {() => void} press */
function button(label, title, press) {
	const el = make('button', '', label)
	el.type = 'button'
	if (title) el.title = title
	el.addEventListener('click', press)
	return el
}

/** A button that copies a text. @param {string} text */
function copyButton(text) {
	const el = button('copy', '', async () => {
		try {
			await navigator.clipboard.writeText(text)
			say('Copied')
			el.textContent = 'copied'
		} catch {
			el.textContent = 'not allowed'
		}
	})
	el.classList.add('copy')
	el.setAttribute('aria-label', 'Copy: ' + visible(text))
	return el
}

/**
 * Indents JSON. It only changes white space outside of strings, so numbers and escapes stay as they are.
 * @param {string} json
 */
function indented(json) {
	let out = '', depth = 0, last = ''
	for (const [token] of json.matchAll(/"(?:[^"\\]|\\.)*"?|[{}[\],:]|[^\s"{}[\],:]+/gs)) {
		const opened = last === '{' || last === '[', closes = token === '}' || token === ']'
		if (closes) depth = Math.max(0, depth - 1)
		if (closes ? !opened : opened || last === ',') out += '\n' + '  '.repeat(Math.min(depth, 40))
		out += token === ':' ? ': ' : token
		if (token === '{' || token === '[') depth++
		last = token
	}
	return out
}

/**
 * Returns what a value says: the text of a string, the texts in a list, JSON in a string, indented.
 * @param {string} json as it is written, perhaps inside of another string
 */
function readable(json) {
	let text = json
	for (let i = 0; i < 3; i++) {
		try {
			const value = JSON.parse(text)
			if (typeof value !== 'string') {
				const texts = Array.isArray(value) && value.length ? value.map(v => v && typeof v.text === 'string' ? v.text : undefined) : [undefined]
				return texts.includes(undefined) ? indented(text) : texts.join('\n')
			}
			text = value
			if (!/^\s*[{[]/.test(text)) return text
		} catch {
			const inside = i ? text : unquoted(text)
			if (inside === text) return text
			text = inside
		}
	}
	return text
}

/**
 * Returns JSON that is written inside of a string as it would be outside of it.
 * @param {string} text
 */
function unquoted(text) {
	try {
		const inside = JSON.parse(`"${text}"`)
		JSON.parse(inside)
		return inside
	} catch {
		return text
	}
}

const firstShown = 20_000

/** A text of which the beginning is shown, and more on demand. @param {string} text @param {string} label */
function long(text, label) {
	const box = make('div', 'long'), pre = make('pre', label === 'Text' ? 'prose' : '')
	pre.tabIndex = 0
	pre.setAttribute('role', 'region')
	pre.setAttribute('aria-label', label)
	let shown = 0
	const more = button('', '', () => grow(200_000))
	const grow = (/** @type {number} */ n) => {
		pre.append(visible(text.slice(shown, shown + n)))
		shown += n
		more.hidden = shown >= text.length
		more.textContent = `show more (${(text.length - shown).toLocaleString('en')} characters are left)`
	}
	grow(firstShown)
	box.append(pre, more)
	return box
}

/** The panel with everything about the selected row. */
class Panel {
	/** @param {HTMLElement} box @param {{other: () => void, close: () => void}} on */
	constructor(box, on) {
		this.box = box
		this.on = on
		this.whole = false // the message instead of the element
		this.turn = 0
	}

	/** @param {Bytes} bytes @param {Row} row @param {Row|undefined} other @param {number} n */
	async show(bytes, row, other, n) {
		const turn = ++this.turn
		const name = row.k === 'call' ? `Call ${row.n || '(no name)'}` : row.k === 'result' || row.k === 'loose' ? `Result ${row.n ? 'of ' + row.n : ''}` : row.k === 'thread' ? row.n ?? '' : row.k[0].toUpperCase() + row.k.slice(1) + (row.r ? ' of ' + row.r : '')
		const head = make('div', 'head', make('h2', '', name.trim()))
		const close = button('close', 'Esc', () => this.on.close())
		head.append(close)
		const facts = [row.t >= 0 ? `turn ${row.t}` : '', row.l ? `line ${row.l.toLocaleString('en')}` : '', row.id ?? '', row.ms ? new Date(row.ms).toISOString() : '', row.b ? size(row.b) : '', row.w !== undefined ? `took ${duration(row.w)}` : '']
		/** @type {HTMLElement[]} */
		const content = [head, make('p', 'facts', facts.filter(Boolean).join(' · '))]
		if (row.q) content.push(make('p', 'state', 'not sent any more'))
		if (row.s && row.s !== 'superseded') content.push(make('p', 'state level' + (states[row.s]?.[1] ?? 1), states[row.s]?.[0] ?? row.s))
		for (const note of row.p ?? []) content.push(this.note(note))
		if (other) {
			const go = button('', 'c', () => this.on.other())
			go.className = 'other'
			go.append(make('span', '', other.k === 'call' ? `↔ its call ${other.n ?? ''}, turn ${other.t}` : `↔ its result, turn ${other.t}${other.b ? ', ' + size(other.b) : ''}`))
			content.push(go)
		}
		const parts = make('div', 'parts')
		content.push(parts)
		this.box.hidden = false
		this.box.replaceChildren(...content)
		this.box.scrollTop = 0
		const sections = []
		if (row.c && bytes.head.payload) sections.push(this.section(bytes, row.k === 'call' ? 'Arguments' : row.k === 'result' || row.k === 'loose' ? 'Content' : 'Text', row.c, readable))
		if (row.k === 'call' && other?.c && bytes.head.payload) sections.push(this.section(bytes, 'Result', other.c, readable))
		if (row.at[1] && bytes.head.payload) sections.push(this.json(bytes, row))
		const made = await Promise.all(sections)
		if (turn === this.turn) {
			parts.replaceChildren(...made)
			this.box.dataset.row = String(n)
		}
	}

	/** @param {Note} note */
	note(note) {
		const el = make('div', 'problem ' + note.severity, make('p', 'sign', signs[note.severity] + ' ' + note.severity + ' ', make('code', '', note.rule)), make('p', '', note.message))
		if (note.refusal) el.append(make('p', '', 'The provider says: ', make('q', '', note.refusal)))
		if (note.fix) el.append(make('p', '', note.fix.startsWith('no fix') ? note.fix : 'Repair: ' + note.fix))
		if (note.command) el.append(make('p', 'fix', make('code', '', note.command), ' ', copyButton(note.command)))
		return el
	}

	/** @param {Bytes} bytes @param {string} title @param {Span} span @param {(text: string) => string} write */
	async section(bytes, title, span, write) {
		const most = 4 << 20
		let text = await bytes.text(span, most)
		text = span[1] > most ? text + `\n… the first ${size(most)} of ${size(span[1])}` : write(text)
		return make('section', '', make('h3', '', title), long(text || '(empty)', title))
	}

	/** @param {Bytes} bytes @param {Row} row */
	async json(bytes, row) {
		const wider = row.m && (row.m[0] !== row.at[0] || row.m[1] !== row.at[1])
		const section = await this.section(bytes, 'JSON', this.whole && row.m ? row.m : row.at, text => indented(unquoted(text)))
		section.classList.add('json')
		if (wider) {
			const toggle = button(this.whole ? 'only the element' : 'the whole message', '', async () => {
				this.whole = !this.whole
				section.replaceWith(await this.json(bytes, row))
			})
			section.querySelector('h3')?.after(toggle)
		}
		return section
	}

	hide() {
		this.turn++
		this.box.hidden = true
	}
}

/** Puts a page together. */
class Page {
	/** @param {Head} head */
	constructor(head) {
		this.head = head
		this.keys = true
		this.searching = 0
		/** @type {number[]} */
		this.hits = []
		this.variant = head.before
		this.rows = new Rows(head, head.before)
		this.bytes = new Bytes(head, head.before)
		this.panel = new Panel(byID('panel'), { other: () => this.map.other(), close: () => this.close() })
		this.map = new MapView(byID('view'), { onSelect: n => this.selected(n), onError: fail })
		this.use(head.before)
		this.bar()
		document.addEventListener('keydown', event => this.key(event))
		byID('problems').addEventListener('click', event => {
			const link = event.target instanceof Element && event.target.closest('a')
			if (!link) return
			event.preventDefault()
			this.go(link.hash)
		})
		for (const code of document.querySelectorAll('#problems .fix code')) code.after(' ', copyButton(code.textContent ?? ''))
		window.addEventListener('hashchange', () => this.go(location.hash))
		if (location.hash) this.go(location.hash)
	}

	/** @param {string} hash */
	async go(hash) {
		const row = /^#row-(\d+)$/.exec(hash)
		if (!row) return
		if (this.variant !== this.head.before) this.use(this.head.before)
		await this.map.select(Number(row[1]))
		this.map.list.focus({ preventScroll: true })
	}

	/** Shows the session before or after the repair. @param {Variant} variant */
	use(variant) {
		this.variant = variant
		this.rows = new Rows(this.head, variant)
		this.bytes = new Bytes(this.head, variant)
		this.panel.hide()
		this.searching++
		this.hits = []
		this.map.show(this.rows)
		for (const el of document.querySelectorAll('#variants button')) el.setAttribute('aria-pressed', String(/** @type {HTMLElement} */ (el).dataset.prefix === variant.prefix))
	}

	/** Goes to the other variant, and stays where it is. @param {Variant} variant */
	async turnTo(variant) {
		const at = this.map.selected >= 0 ? this.map.selected : this.map.rowAt(Math.round(this.map.top())), chosen = this.map.selected >= 0
		const row = this.rows.count ? await this.rows.get(at) : undefined
		this.use(variant)
		if (!row) return
		const pieces = (this.head.after?.pieces ?? []), back = variant === this.head.before
		const piece = pieces.find(([start, length, from]) => from >= 0 && (back ? row.at[0] >= start && row.at[0] < start + length : row.at[0] >= from && row.at[0] < from + length))
		const offset = piece ? row.at[0] + (back ? piece[2] - piece[0] : piece[0] - piece[2]) : -1
		const [there] = offset < 0 ? [-1] : await this.rows.around([offset])
		if (chosen) await this.map.select(there >= 0 ? there : Math.min(at, this.rows.count - 1))
		else this.map.scrollTo(there >= 0 ? there : at)
	}

	/** Makes the controls. */
	bar() {
		const { before, after } = this.head, bar = byID('bar')
		if (after) {
			const group = make('div', 'choice')
			group.id = 'variants'
			group.setAttribute('role', 'group')
			group.setAttribute('aria-label', 'Before or after the repair')
			for (const [label, variant] of /** @type {[string, Variant][]} */ ([[`before: ${before.counted}`, before], [`after repair: ${after.counted}`, after]])) {
				const el = button(label, '', () => this.turnTo(variant))
				el.dataset.prefix = variant.prefix
				el.setAttribute('aria-pressed', String(variant === before))
				group.append(el)
			}
			bar.append(group)
		}
		this.input = make('input')
		this.input.type = 'search'
		this.input.name = 'search'
		this.input.placeholder = 'Search'
		this.input.setAttribute('aria-label', 'Search the session')
		this.input.addEventListener('keydown', event => {
			if (event.key === 'Enter') this.step(event.shiftKey ? -1 : 1)
			else if (event.key === 'Escape') this.map.list.focus()
		})
		this.input.addEventListener('input', () => this.find())
		this.found = make('span', 'found')
		this.found.setAttribute('aria-live', 'polite')
		const find = make('div', 'search', this.input, button('↑', 'previous hit', () => this.step(-1)), button('↓', 'next hit', () => this.step(1)), this.found)
		find.setAttribute('role', 'search')
		find.hidden = !this.head.payload
		const theme = button('light / dark', '', () => {
			const root = document.documentElement
			const dark = root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches
			root.dataset.theme = dark ? 'light' : 'dark'
			this.map.rule()
		})
		bar.append(find, theme, button('keys', 'Which keys there are', () => this.help()))
		for (const el of find.querySelectorAll('button')) el.setAttribute('aria-label', el.title)
		bar.hidden = false
	}

	/** Shows the keys. */
	help() {
		let dialog = /** @type {HTMLDialogElement|null} */ (document.querySelector('dialog'))
		if (!dialog) {
			const keys = [['j k', 'next, previous turn'], ['n p', 'next, previous problem'], ['c', 'from a call to its result and back'], ['/', 'search'], ['↓ ↑ PgDn PgUp Home End', 'rows, in the list'], ['← →', 'fold a thread, show it again'], ['Enter', 'into the panel'], ['Esc', 'close the panel']]
			const list = make('dl')
			for (const [key, what] of keys) list.append(make('dt', '', ...key.split(' ').flatMap(k => [make('kbd', '', k), ' '])), make('dd', '', what))
			const box = make('input')
			box.type = 'checkbox'
			box.name = 'keys'
			box.checked = this.keys
			box.addEventListener('change', () => { this.keys = box.checked })
			dialog = make('dialog', '', make('h2', '', 'Keys'), list, make('label', '', box, ' keys of one letter are on'), make('p', '', button('close', '', () => dialog?.close())))
			dialog.setAttribute('aria-label', 'Keys')
			document.body.append(dialog)
		}
		dialog.showModal()
	}

	/** @param {KeyboardEvent} event */
	key(event) {
		if (event.altKey || event.ctrlKey || event.metaKey || document.querySelector('dialog[open]')) return
		if (event.target instanceof HTMLInputElement) return
		if (event.key === 'Escape' && !byID('panel').hidden) return this.close()
		if (event.key === 'Enter' && event.target === this.map.list) return byID('panel').focus()
		/** @type {Record<string, () => void>} */
		const actions = {
			j: () => this.map.turn(1), k: () => this.map.turn(-1), n: () => this.problem(1), p: () => this.problem(-1),
			c: () => this.map.other(), '/': () => this.input?.select(), '?': () => this.help(),
		}
		const action = this.keys && actions[event.key]
		if (!action) return
		event.preventDefault()
		if (event.key !== '/' && event.key !== '?' && !byID('panel').contains(document.activeElement)) this.map.list.focus({ preventScroll: true })
		action()
	}

	/** @param {1|-1} way */
	problem(way) {
		if (this.rows.problems.length) return this.map.problem(way)
		say('no problems')
	}

	/** @param {number} n */
	async selected(n) {
		const { rows, bytes } = this
		try {
			byID('map').scrollIntoView({ block: 'nearest' })
			const row = await rows.get(n), other = row.o >= 0 ? await rows.get(row.o) : undefined
			const closed = byID('panel').hidden
			const shown = this.panel.show(bytes, row, other, n)
			if (closed) {
				// The list has become smaller.
				this.map.resized()
				if (this.map.selected === n) this.map.reveal(this.map.lineOf(n), this.map.lineOf(n))
			}
			await shown
			if (this.variant === this.head.before) history.replaceState(null, '', '#row-' + n)
		} catch (error) {
			fail(error)
		}
	}

	close() {
		this.panel.hide()
		this.map.list.focus({ preventScroll: true })
	}

	/** Searches for what is in the field. */
	async find() {
		const turn = ++this.searching, query = this.input?.value ?? '', found = /** @type {HTMLElement} */ (this.found)
		this.hits = []
		this.map.mark([])
		found.textContent = ''
		if (query.length < 2) return
		await new Promise(done => setTimeout(done, 250))
		if (turn !== this.searching) return
		try {
			const hits = await search(this.rows, this.bytes, query, (part, n) => {
				if (turn === this.searching) found.textContent = `${n.toLocaleString('en')} found, ${Math.round(part * 100)} %`
				return turn === this.searching
			})
			if (!hits || turn !== this.searching) return
			this.hits = hits
			this.map.mark(hits)
			found.textContent = hits.length ? `${hits.length.toLocaleString('en')}${hits.length < mostHits ? '' : ' or more'} found` : 'not found'
		} catch (error) {
			fail(error)
		}
	}

	/** Goes to the next hit in a direction. @param {1|-1} way */
	async step(way) {
		if (!this.hits.length) return
		const next = way > 0 ? firstAbove(this.hits, this.map.selected) : firstAbove(this.hits, this.map.selected - 1) - 1
		const i = (next + this.hits.length) % this.hits.length
		await this.map.select(this.hits[i])
		if (this.found) this.found.textContent = `${(i + 1).toLocaleString('en')} of ${this.hits.length.toLocaleString('en')}`
	}
}

/** @type {Page} */
let page // for those who look at the page with the tools of a browser
unpackJSON('head').then(head => { page = new Page(head) }).catch(fail)
