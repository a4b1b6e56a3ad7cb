// How rows are shown: a list of which only the rows in view are in the document, and arcs between
// calls and results. It asks a RowSource for rows, and does not know where they come from.

/** The most pixels that browsers make an element high. */
const highest = 8_000_000
const rowHeight = 26

/**
 * Returns a text in which all characters can be seen, and none moves others.
 * @param {string} text
 */
function visible(text) {
	return text.replace(/(?![\t\n\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cs}]/gu, char => {
		const code = /** @type {number} */ (char.codePointAt(0)).toString(16)
		return code.length > 4 ? `\\u{${code}}` : '\\u' + code.padStart(4, '0')
	})
}

/**
 * Returns a new element. Text is only ever set as text.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} name @param {string} [classes] @param {...(string|Node)} content
 */
function make(name, classes, ...content) {
	const el = document.createElement(name)
	if (classes) el.className = classes
	el.append(...content.map(c => typeof c === 'string' ? visible(c) : c))
	return el
}

/** @param {string} name @param {Record<string, string|number>} attributes */
function draw(name, attributes) {
	const el = document.createElementNS('http://www.w3.org/2000/svg', name)
	for (const [key, value] of Object.entries(attributes)) el.setAttribute(key, String(value))
	return el
}

/** @param {number} n */
function size(n) {
	for (const [unit, of] of /** @type {[string, number][]} */ ([['GB', 1e9], ['MB', 1e6], ['KB', 1e3]])) {
		if (n >= of) return (n / of).toFixed(n < 9.95 * of ? 1 : 0) + ' ' + unit
	}
	return n + ' B'
}

/** @param {number} ms */
function duration(ms) {
	const s = ms / 1000
	if (s < 9.95) return (s < 0.1 && s > 0 ? s.toFixed(2) : s.toFixed(1)) + ' s'
	if (s < 120) return Math.round(s) + ' s'
	if (s < 7200) return Math.round(s / 60) + ' min'
	return s < 172_800 ? Math.round(s / 3600) + ' h' : Math.round(s / 86_400) + ' days'
}

/**
 * What is said about states, and how bad they are: 2 for what breaks a history, 1 for what is unusual.
 * @type {Record<string, [word: string, level: 0|1|2]>}
 */
const states = {
	missing: ['no result', 2], pending: ['pending', 1], interrupted: ['interrupted', 1], unclear: ['unclear', 1],
	exempt: ['needs no result', 0], repeated: ['repeated', 0], misplaced: ['misplaced', 2], failed: ['failed', 1],
	placeholder: ['placeholder', 1], orphan: ['no call', 2], duplicate: ['second result', 2], undecided: ['no usable id', 2],
	unreadable: ['unreadable', 2], superseded: ['from here on not sent any more', 0], aborted: ['aborted', 1],
}
const signs = { error: '✗', warning: '▲', info: 'ℹ' }
const kinds = { thread: '', text: '', reasoning: 'reasoning', media: 'media', other: 'other', call: '', result: 'result', loose: 'result', record: 'record', empty: 'empty' }

class MapView {
	/**
	 * @param {HTMLElement} box
	 * @param {{onSelect?: (row: number) => void, onError?: (error: unknown) => void}} [on]
	 */
	constructor(box, on = {}) {
		this.box = box
		this.on = on
		/** @type {RowSource} */
		this.source = { count: 0, repaired: false, problems: [], far: [], threads: [], peek: () => undefined, get: () => Promise.reject(new Error('no rows')) }
		this.selected = -1
		/** @type {Set<number>} threads */
		this.folded = new Set()
		/** @type {[lo: number, hi: number, before: number][]} hidden rows, and how many are before */
		this.gaps = []
		/** @type {Set<number>} */
		this.hits = new Set()
		/** @type {Map<number, HTMLElement>} */
		this.shown = new Map()
		this.list = make('div', 'list')
		this.list.id = 'list'
		this.list.tabIndex = 0
		this.list.setAttribute('role', 'listbox')
		this.list.setAttribute('aria-label', 'Turns, calls and results')
		this.spacer = make('div', 'spacer')
		this.spacer.setAttribute('role', 'presentation')
		this.arcs = /** @type {SVGSVGElement} */ (draw('svg', { class: 'arcs', 'aria-hidden': 'true' }))
		this.ruler = make('canvas', 'ruler')
		this.ruler.setAttribute('aria-hidden', 'true')
		this.pins = { above: this.pin('above'), below: this.pin('below') }
		this.spacer.append(this.arcs)
		this.list.append(this.spacer)
		box.replaceChildren(this.list, this.ruler, this.pins.above, this.pins.below)
		this.list.addEventListener('scroll', () => this.soon(), { passive: true })
		this.list.addEventListener('keydown', event => this.key(event))
		this.list.addEventListener('click', event => {
			const row = event.target instanceof Element && event.target.closest('.row')
			if (row && event.target.closest('.fold')) this.fold(Number(row.id.slice(4)))
			else if (row) this.select(Number(row.id.slice(4)))
		})
		this.ruler.addEventListener('click', event => this.scrollTo(event.offsetY / this.ruler.clientHeight * this.lines() - this.capacity() / 2))
		new ResizeObserver(() => this.resized()).observe(this.list)
	}

	/** @param {'above'|'below'} side */
	pin(side) {
		const pin = make('button', 'pin ' + side)
		pin.type = 'button'
		pin.hidden = true
		pin.addEventListener('click', () => this.other())
		return pin
	}

	/** Shows other rows. @param {RowSource} source */
	show(source) {
		this.source = source
		this.selected = -1
		this.folded.clear()
		this.gaps = []
		this.hits = new Set()
		this.clear()
		this.resized()
		this.list.scrollTop = 0
	}

	clear() {
		for (const el of this.shown.values()) el.remove()
		this.shown.clear()
		this.list.removeAttribute('aria-activedescendant')
	}

	lines() {
		const last = this.gaps.at(-1)
		return this.source.count - (last ? last[2] + last[1] - last[0] : 0)
	}

	/** The line of a row, or of its folded thread. @param {number} row */
	lineOf(row) {
		const gap = this.gaps[firstAbove(this.gaps.map(g => g[0]), row) - 1]
		return !gap ? row : row < gap[1] ? gap[0] - 1 - gap[2] : row - gap[2] - gap[1] + gap[0]
	}

	/** The row of a line. @param {number} line */
	rowAt(line) {
		const gap = this.gaps[firstAbove(this.gaps.map(g => g[0] - g[2]), line) - 1]
		return gap ? line + gap[2] + gap[1] - gap[0] : line
	}

	/** @param {number} row @param {boolean} [folded] */
	fold(row, folded = !this.folded.has(row)) {
		const thread = this.source.threads.find(t => t[0] === row)
		if (!thread || folded === this.folded.has(row)) return
		if (folded) this.folded.add(row)
		else this.folded.delete(row)
		this.refold()
		if (folded && this.selected > row && this.selected < thread[1]) this.select(row)
	}

	refold() {
		this.gaps = []
		let end = 0, before = 0
		for (const [row, to] of this.source.threads.filter(t => this.folded.has(t[0])).sort((a, b) => a[0] - b[0])) {
			if (row < end) continue
			this.gaps.push([row + 1, to, before])
			before += to - row - 1
			end = to
		}
		this.clear()
		this.resized()
	}

	/** @param {Iterable<number>} rows */
	mark(rows) {
		this.hits = new Set(rows)
		this.clear()
		this.resized()
	}

	capacity() {
		return Math.max(1, Math.floor(this.list.clientHeight / rowHeight))
	}

	/** How many pixels of rows a pixel of the scroll bar stands for. */
	scale() {
		const view = this.list.clientHeight, total = this.lines() * rowHeight
		return total > highest ? (total - view) / (highest - view) : 1
	}

	/** The first line in view. */
	top() {
		return this.list.scrollTop * this.scale() / rowHeight
	}

	/** @param {number} line */
	scrollTo(line) {
		this.list.scrollTop = Math.max(0, line) * rowHeight / this.scale()
		this.render()
	}

	resized() {
		this.spacer.style.height = Math.min(highest, this.lines() * rowHeight) + 'px'
		this.render()
		this.rule()
	}

	soon() {
		if (this.waiting) return
		this.waiting = requestAnimationFrame(() => {
			this.waiting = 0
			this.render()
		})
	}

	render() {
		const { source, list } = this, top = this.top()
		const lo = Math.max(0, Math.floor(top) - 4), hi = Math.min(this.lines(), Math.ceil(top) + this.capacity() + 5)
		const rows = Array.from({ length: Math.max(0, hi - lo) }, (_, i) => this.rowAt(lo + i))
		for (const [n, el] of this.shown) {
			if (!rows.includes(n)) {
				el.remove()
				this.shown.delete(n)
			}
		}
		const absent = []
		const base = list.scrollTop - top * rowHeight
		for (const [i, n] of rows.entries()) {
			let el = this.shown.get(n)
			const row = source.peek(n)
			if (!row) {
				absent.push(n)
				continue
			}
			if (!el) {
				el = this.row(n, row)
				this.shown.set(n, el)
				const next = [...this.shown.keys()].filter(k => k > n).sort((a, b) => a - b)[0]
				this.spacer.insertBefore(el, next === undefined ? null : /** @type {HTMLElement} */ (this.shown.get(next)))
			}
			el.style.top = base + (lo + i) * rowHeight + 'px'
			el.setAttribute('aria-selected', String(n === this.selected))
		}
		if (this.selected >= 0 && this.shown.has(this.selected)) list.setAttribute('aria-activedescendant', 'row-' + this.selected)
		else list.removeAttribute('aria-activedescendant')
		if (absent.length) this.load(absent)
		this.connect(rows, lo, base)
		this.pinned(top)
	}

	/** @param {number[]} rows */
	async load(rows) {
		const { source } = this
		try {
			await Promise.all(rows.map(n => source.get(n)))
			if (source === this.source) this.soon()
		} catch (error) {
			this.on.onError?.(error)
		}
	}

	/** @param {number} n @param {Row} row */
	row(n, row) {
		const el = make('div', ['row', row.k, row.f ? 'first' : '', row.r ? 'by-' + row.r : '', row.e ? 'edited' : '', row.q ? 'past' : '', this.hits.has(n) ? 'hit' : ''].filter(Boolean).join(' '))
		el.id = 'row-' + n
		el.setAttribute('role', 'option')
		el.setAttribute('aria-posinset', String(this.lineOf(n) + 1))
		el.setAttribute('aria-setsize', String(this.lines()))
		el.style.setProperty('--depth', String(Math.min(row.d ?? 0, 8)))
		let when = ''
		if (row.f && row.dt !== undefined) when = row.dt < 0 ? '−' + duration(-row.dt) : '+' + duration(row.dt)
		else if (row.f && row.ms) when = new Date(row.ms).toISOString().slice(11, 19)
		el.append(
			make('span', 'no', row.f ? make('span', 'unseen', 'turn ') : '', row.f ? String(row.t) : ''),
			make('span', 'who', row.f ? row.r || '–' : ''),
			make('span', 'when', when),
			make('span', 'gutter'),
			make('span', 'said', row.k === 'thread' ? this.handle(n) : '', row.k === 'call' ? make('span', 'unseen', 'call ') : '',
				make('span', 'what', row.k === 'call' || row.k === 'thread' ? row.n || '(no name)' : row.k === 'text' && !row.x && (row.b ?? 0) <= 2 ? 'no text' : kinds[row.k]), ' ',
				make('bdi', 'text', row.x ?? '')),
			this.facts(row),
		)
		return el
	}

	/** @param {number} n */
	handle(n) {
		const folded = this.folded.has(n)
		return this.source.threads.some(t => t[0] === n) ? make('span', 'fold', folded ? '▸' : '▾', make('span', 'unseen', folded ? ' folded ' : '')) : ''
	}

	/** What is at the end of a row. @param {Row} row */
	facts(row) {
		const out = make('span', 'facts'), state = row.s ? states[row.s] ?? [row.s, 1] : undefined
		if (state) out.append(make('span', 'state level' + state[1], (state[1] === 2 ? '✗ ' : '') + state[0]))
		for (const note of (row.p ?? []).slice(0, 2)) out.append(make('span', 'badge ' + note.severity, signs[note.severity] + ' ' + note.rule))
		if ((row.p?.length ?? 0) > 2) out.append(make('span', 'more', `+${/** @type {Note[]} */ (row.p).length - 2}`))
		if (row.e) out.append(make('span', 'edit', this.source.repaired ? 'repaired' : 'repair changes'))
		const measures = []
		if (row.w !== undefined) measures.push(duration(row.w))
		if (row.b && (!row.x || (row.k !== 'text' && row.k !== 'reasoning'))) measures.push(size(row.b))
		if (measures.length) out.append(make('span', 'measure', measures.join(' · ')))
		return out
	}

	/** Draws the arcs of rows from line lo on. @param {number[]} rows @param {number} lo @param {number} base */
	connect(rows, lo, base) {
		const hi = lo + rows.length
		const gutter = /** @type {HTMLElement|null} */ (this.spacer.querySelector('.row:not(.thread) .gutter'))
		const right = gutter?.offsetWidth ?? 0, height = (hi - lo) * rowHeight
		const { style } = this.arcs
		style.left = (gutter?.offsetLeft ?? 0) + 'px'
		style.top = base + lo * rowHeight + 'px'
		style.width = right + 'px'
		style.height = height + 'px'
		const y = (/** @type {number} */ row) => (this.lineOf(row) - lo) * rowHeight + rowHeight / 2
		/** @type {Map<string, SVGElement[]>} */
		const drawn = new Map()
		for (const n of right ? rows : []) {
			const row = this.source.peek(n)
			if (!row) continue
			const call = row.k === 'call', bad = row.s && (states[row.s]?.[1] ?? 0) === 2
			if (row.o >= 0 && (call || row.k === 'result')) {
				const from = call ? n : row.o, to = call ? row.o : n
				if (!drawn.has(from + '-' + to)) drawn.set(from + '-' + to, this.arc(from, to, y, right, bad ? 'bad' : ''))
			} else if ((call && row.s && row.s !== 'exempt') || row.k === 'loose') {
				// A broken end: down from a call, from above to a result.
				const way = call ? 1 : -1, x = right - 3, end = y(n) + way * 9
				drawn.set(String(n), [
					draw('path', { class: bad ? 'bad' : 'open', d: `M${x} ${y(n)} H${x - 9} q-6 0 -6 ${way * 6} V${end}` }),
					draw('path', { class: bad ? 'bad end' : 'open end', d: bad ? `M${x - 19} ${end - 4} l8 8 m0 -8 l-8 8` : `M${x - 18} ${end} h6` }),
					draw('circle', { class: bad ? 'bad dot' : 'open dot', cx: x, cy: y(n), r: 2.5 }),
				])
			}
		}
		for (const [from, to] of this.source.far) {
			if (drawn.size > 200) break
			const [a, b] = [this.lineOf(from), this.lineOf(to)]
			if (Math.min(a, b) < lo && Math.max(a, b) >= hi && !drawn.has(from + '-' + to)) drawn.set(from + '-' + to, this.arc(from, to, y, right, 'far'))
		}
		this.arcs.replaceChildren(...[...drawn.values()].flat())
	}

	/**
	 * @param {number} from @param {number} to @param {(row: number) => number} y @param {number} right @param {string} kind
	 * @returns {SVGElement[]}
	 */
	arc(from, to, y, right, kind) {
		const chosen = this.selected === from || this.selected === to ? ' chosen' : ''
		const far = Math.abs(to - from), x = right - 3, way = to > from ? 1 : -1
		const clamp = (/** @type {number} */ v) => Math.max(-40, Math.min(v, 40_000))
		const y1 = clamp(y(from)), y2 = clamp(y(to))
		const bulge = Math.min(right - 8, 9 + 5 * Math.log2(far + 1) + (far > 1 ? from % 3 * 3 : 0))
		const d = far <= 12
			? `M${x} ${y1} C${x - bulge * 1.3} ${y1} ${x - bulge * 1.3} ${y2} ${x} ${y2}`
			: `M${x} ${y1} Q${x - bulge} ${y1} ${x - bulge} ${y1 + way * 22} V${y2 - way * 22} Q${x - bulge} ${y2} ${x} ${y2}`
		return [
			draw('path', { class: kind + chosen, d }),
			draw('circle', { class: kind + ' dot' + chosen, cx: x, cy: y1, r: 2.5 }),
			draw('path', { class: kind + ' head' + chosen, d: `M${x - 4} ${y2 - 3.5} L${x + 2} ${y2} L${x - 4} ${y2 + 3.5} Z` }),
		]
	}

	/** Shows the other end of the selected row at the edge if it is not in view. @param {number} top */
	pinned(top) {
		const row = this.selected < 0 ? undefined : this.source.peek(this.selected)
		const other = row && row.o >= 0 ? row.o : -1
		const line = this.lineOf(other), above = other >= 0 && line < top, below = other >= 0 && line + 1 > top + this.list.clientHeight / rowHeight
		this.pins.above.hidden = !above
		this.pins.below.hidden = !below
		if (!above && !below) return
		const far = this.source.peek(other), pin = above ? this.pins.above : this.pins.below
		if (!far) {
			this.source.get(other).then(() => this.soon(), error => this.on.onError?.(error))
		}
		const place = far ? `${far.k === 'call' ? 'call ' + (far.n ?? '') : 'result'} in turn ${far.t}` : 'the other end'
		pin.dataset.row = String(other)
		pin.replaceChildren(make('span', 'arrow', above ? '↑' : '↓'), make('span', 'what', place),
			make('bdi', 'text', far?.x ?? ''), make('span', 'measure', `${Math.abs(other - this.selected).toLocaleString('en')} rows ${above ? 'above' : 'below'}`))
	}

	rule() {
		const { ruler } = this, ratio = window.devicePixelRatio || 1
		const width = ruler.clientWidth, height = ruler.clientHeight, context = ruler.getContext('2d')
		if (!context || !height) return
		ruler.width = width * ratio
		ruler.height = height * ratio
		context.scale(ratio, ratio)
		const colors = getComputedStyle(this.box), color = (/** @type {string} */ name) => colors.getPropertyValue(name)
		const high = this.source.problems.length + this.hits.size > height / 8 ? 1 : 3
		const tick = (/** @type {number} */ row, /** @type {string} */ name, /** @type {number} */ from) => {
			context.fillStyle = color(name)
			context.fillRect(from, Math.min(height - high, this.lineOf(row) / this.lines() * height), width - from, high)
		}
		for (const row of this.hits) tick(row, '--accent', width / 2)
		for (const [row, severity] of this.source.problems) tick(row, ['--muted', '--muted', '--warning', '--error'][severity], 0)
	}

	/** Selects a row and brings it into view, with the other end of its arc if both fit. @param {number} n */
	async select(n) {
		const { source } = this
		if (n < 0 || n >= source.count) return
		try {
			const row = await source.get(n)
			if (row.o >= 0) await source.get(row.o)
			if (source !== this.source) return
			this.selected = n
			this.unfold(n)
			const [at, other] = [this.lineOf(n), this.lineOf(row.o < 0 ? n : row.o)], lo = Math.min(at, other), hi = Math.max(at, other)
			if (hi - lo + 3 <= this.capacity()) this.reveal(lo, hi)
			else this.reveal(at, at)
			this.on.onSelect?.(n)
		} catch (error) {
			this.on.onError?.(error)
		}
	}

	/** @param {number} n */
	unfold(n) {
		const around = this.source.threads.filter(([row, end]) => this.folded.has(row) && row < n && n < end)
		for (const [row] of around) this.folded.delete(row)
		if (around.length) this.refold()
	}

	/** Brings lines into view. @param {number} lo @param {number} hi */
	reveal(lo, hi) {
		const top = this.top(), capacity = this.capacity()
		if (lo - 1.5 < top || hi + 2.5 > top + capacity) {
			const near = lo - 1.5 > top - capacity && hi + 2.5 < top + 2 * capacity
			if (near && lo - 1.5 < top) this.scrollTo(lo - 1.5)
			else if (near) this.scrollTo(hi + 2.5 - capacity)
			else this.scrollTo((lo + hi + 1 - capacity) / 2)
		}
		this.render()
	}

	/** Selects the next row in a direction that begins a turn. @param {1|-1} way */
	async turn(way) {
		const { source } = this
		for (let line = this.selected < 0 ? (way > 0 ? 0 : this.lines() - 1) : this.lineOf(this.selected) + way; line >= 0 && line < this.lines(); line += way) {
			const n = this.rowAt(line), row = await source.get(n)
			if (row.f || row.k === 'thread' || row.k === 'record') return this.select(n)
		}
	}

	/** Selects the next row in a direction that has a problem, from the first one again after the last. @param {1|-1} way */
	problem(way) {
		const rows = this.source.problems.map(p => p[0])
		if (!rows.length) return Promise.resolve()
		const next = way > 0 ? firstAbove(rows, this.selected) : firstAbove(rows, this.selected - 1) - 1
		return this.select(rows[(next + rows.length) % rows.length])
	}

	/** Selects the other end of the arc of the selected row. */
	async other() {
		if (this.selected < 0) return
		const row = await this.source.get(this.selected)
		if (row.o >= 0) return this.select(row.o)
	}

	/** @param {KeyboardEvent} event */
	key(event) {
		if (event.altKey || event.ctrlKey || event.metaKey) return
		const at = this.selected < 0 ? -1 : this.lineOf(this.selected), last = this.lines() - 1, page = Math.max(1, this.capacity() - 2)
		const to = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + page, PageUp: at - page, Home: 0, End: last }[event.key]
		if (event.key === 'ArrowRight') this.fold(this.selected, false)
		else if (event.key === 'ArrowLeft') this.fold(Math.max(...this.source.threads.map(([row, end]) => row <= this.selected && this.selected < end && !this.folded.has(row) ? row : -1)), true)
		else if (to !== undefined) this.select(this.rowAt(Math.max(0, Math.min(last, to))))
		else return
		event.preventDefault()
	}
}

/** The index of the first number above another one. @param {number[]} list @param {number} n */
function firstAbove(list, n) {
	let i = 0
	while (i < list.length && list[i] <= n) i++
	return i
}
