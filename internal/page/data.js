'use strict'
// How the data of a page arrives: blocks of rows and of bytes, unpacked when they are needed.

/**
 * @typedef {object} Note A finding.
 * @property {string} rule
 * @property {'error'|'warning'|'info'} severity
 * @property {string} message
 * @property {string} [refusal] the error of the provider
 * @property {string} [fix]
 * @property {string} [command]
 *
 * @typedef {[start: number, length: number]} Span A part of the source, in bytes.
 *
 * @typedef {object} Row
 * @property {'thread'|'text'|'reasoning'|'media'|'other'|'call'|'result'|'loose'|'record'|'empty'} k its kind
 * @property {number} [d] how many sub-agents it is in
 * @property {number} t the turn, -1 for none
 * @property {boolean} [f] whether it is the first one of its turn
 * @property {string} [r] the role of its turn
 * @property {number} [ms] when the turn was, in milliseconds since 1970
 * @property {number} [dt] since the turn before, in milliseconds
 * @property {Span} at
 * @property {Span} [m] the message around it
 * @property {Span} [c] its text, its arguments, or what the result says
 * @property {number} [l] the line
 * @property {string} [n] the tool, or the name of the thread
 * @property {string} [id]
 * @property {string} [x] the beginning of its text
 * @property {number} o the row of the result of a call, or of the call of a result; -1 for none
 * @property {string} [s] its state, if that is worth a word
 * @property {number} [b] bytes of the result, or of the text
 * @property {number} [w] how long the call took, in milliseconds
 * @property {boolean} [e] whether the repair changes it, or has changed it
 * @property {boolean} [q] whether it is no longer sent
 * @property {Note[]} [p]
 *
 * @typedef {object} RowSource What a map shows.
 * @property {number} count
 * @property {boolean} repaired whether it is the session after the repair
 * @property {[row: number, severity: number][]} problems in order
 * @property {[call: number, result: number][]} far calls that are far from their results, widest first
 * @property {[row: number, end: number][]} threads the row of each thread, and the row after its last one
 * @property {(row: number) => Row|undefined} peek returns a row that is here
 * @property {(row: number) => Promise<Row>} get
 *
 * @typedef {object} Variant The session before or after the repair.
 * @property {string} prefix of the ids of its blocks of rows
 * @property {number} rows
 * @property {number} size
 * @property {string} counted
 * @property {[number, number][]} problems
 * @property {[number, number][]} far
 * @property {[number, number][]} threads
 * @property {[start: number, length: number, from: number][]} [pieces] parts of the original, or, below 0, of the inserted text
 * @property {number} block
 *
 * @typedef {object} Head
 * @property {number} rowsInBlock
 * @property {number} width bytes of the source in one block
 * @property {number} size
 * @property {number} longest how long strings are at most, 0 if all are whole
 * @property {boolean} payload whether the source is on the page
 * @property {Variant} before
 * @property {Variant} [after]
 *
 * @typedef {{at: number, bytes: Uint8Array}} Part Bytes that begin at an offset.
 */

/**
 * Remembers the last values that a function returned.
 * @template V
 * @param {number} most
 * @param {(key: string) => Promise<V>} load
 */
function remembering(most, load) {
	/** @type {Map<string, Promise<V>>} */
	const known = new Map()
	return (/** @type {string} */ key) => {
		const value = known.get(key) ?? load(key)
		known.delete(key)
		known.set(key, value)
		if (known.size > most) known.delete(/** @type {string} */ (known.keys().next().value))
		value.catch(() => known.delete(key))
		return value
	}
}

/**
 * Unpacks a block. While the page is being read, it waits until all of the block is there.
 * @param {string} id
 */
async function unpack(id) {
	for (;;) {
		const block = document.getElementById(id), over = document.readyState !== 'loading'
		if (block && (block.nextSibling || over)) {
			try {
				const packed = Uint8Array.from(atob(block.textContent ?? ''), c => c.charCodeAt(0))
				const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'))
				return new Uint8Array(await new Response(stream).arrayBuffer())
			} catch (error) {
				throw new Error(`the page is incomplete: block ${id} cannot be read (${error})`)
			}
		}
		if (over) throw new Error(`the page is incomplete: it has no block ${id}`)
		await new Promise(done => setTimeout(done, 30))
	}
}

/** @param {string} id */
async function unpackJSON(id) {
	return JSON.parse(new TextDecoder().decode(await unpack(id)))
}

/** How many blocks of rows are kept. */
const mostBlocks = 10

/** The rows of a variant. @implements {RowSource} */
class Rows {
	/** @param {Head} head @param {Variant} variant */
	constructor(head, variant) {
		this.variant = variant
		this.count = variant.rows
		this.repaired = !!variant.pieces
		this.problems = variant.problems
		this.far = variant.far
		this.threads = variant.threads
		this.inBlock = head.rowsInBlock
		/** @type {Map<string, Row[]>} */
		this.here = new Map()
		this.unpacked = remembering(mostBlocks, unpackJSON)
	}

	/** @param {string} id @returns {Promise<Row[]>} */
	async load(id) {
		const rows = await this.unpacked(id)
		this.here.delete(id)
		this.here.set(id, rows)
		if (this.here.size > mostBlocks) this.here.delete(/** @type {string} */ (this.here.keys().next().value))
		return rows
	}

	/** @param {number} row */
	block(row) {
		return this.variant.prefix + Math.floor(row / this.inBlock)
	}

	/** @param {number} row */
	peek(row) {
		return this.here.get(this.block(row))?.[row % this.inBlock]
	}

	/** @param {number} row */
	async get(row) {
		return (await this.load(this.block(row)))[row % this.inBlock]
	}

	/**
	 * Returns for each offset, which must be in order, the innermost row around it.
	 * @param {number[]} offsets
	 */
	async around(offsets) {
		/** @type {[number, number][]} */
		const spans = (await unpackJSON('tail'))[this.variant.prefix]
		/** @type {Map<number, [row: number, length: number]>} */
		const best = new Map()
		for (const [b, [lo, hi]] of spans.entries()) {
			const inside = offsets.filter(at => at >= lo && at < hi)
			if (!inside.length) continue
			const rows = await this.load(this.variant.prefix + b)
			for (const [i, row] of rows.entries()) {
				const [from, length] = row.at
				for (let n = firstNotBelow(inside, from); n < inside.length && inside[n] < from + length; n++) {
					const known = best.get(inside[n])
					if (!known || known[1] > length) best.set(inside[n], [b * this.inBlock + i, length])
				}
			}
		}
		return offsets.map(at => best.get(at)?.[0] ?? -1)
	}
}

/**
 * Returns the index of the first number that is not below another one, in a list in order.
 * @param {number[]} list @param {number} least
 */
function firstNotBelow(list, least) {
	let lo = 0, hi = list.length
	while (lo < hi) {
		const mid = (lo + hi) >> 1
		if (list[mid] < least) lo = mid + 1
		else hi = mid
	}
	return lo
}

/** The bytes of a variant. */
class Bytes {
	/** @param {Head} head @param {Variant} variant */
	constructor(head, variant) {
		this.head = head
		this.variant = variant
	}

	/**
	 * Returns what is on the page of a part of the variant, in order.
	 * @param {number} start @param {number} length @returns {Promise<Part[]>}
	 */
	async read(start, length) {
		if (!this.head.payload) return []
		const pieces = this.variant.pieces
		if (!pieces) return stored('p', this.head.width, start, length)
		const out = [], end = start + length
		for (let i = Math.max(0, firstNotBelow(pieces.map(p => p[0]), start + 1) - 1); i < pieces.length && pieces[i][0] < end; i++) {
			const [at, n, from] = pieces[i]
			const lo = Math.max(at, start), hi = Math.min(at + n, end)
			if (hi <= lo) continue
			const parts = from >= 0 ? await stored('p', this.head.width, from + lo - at, hi - lo) : await stored('q', this.variant.block, -1 - from + lo - at, hi - lo)
			const shift = from >= 0 ? at - from : at - (-1 - from)
			out.push(...parts.map(p => ({ at: p.at + shift, bytes: p.bytes })))
		}
		return out
	}

	/**
	 * Returns a part of the variant as text. What is not on the page is named in it.
	 * @param {Span} span @param {number} most bytes
	 */
	async text([start, length], most) {
		let text = '', at = start
		const wanted = Math.min(length, most), decoder = new TextDecoder()
		for (const part of await this.read(start, wanted)) {
			if (part.at > at) text += decoder.decode() + missing(part.at - at)
			text += decoder.decode(part.bytes, { stream: true })
			at = part.at + part.bytes.length
		}
		text += wanted < length ? '' : decoder.decode()
		return at < start + wanted ? text + missing(start + wanted - at) : text
	}
}

/** @param {number} n */
function missing(n) {
	return `… ${n.toLocaleString('en')} bytes are not on this page …`
}

const blocks = remembering(6, async id => {
	const bytes = await unpack(id), head = bytes.indexOf(10)
	/** @type {number[]} */
	const parts = JSON.parse(new TextDecoder().decode(bytes.subarray(0, head))) ?? []
	/** @type {Part[]} */
	const out = []
	for (let i = 0, from = head + 1; i < parts.length; i += 2) {
		out.push({ at: parts[i], bytes: bytes.subarray(from, from + parts[i + 1]) })
		from += parts[i + 1]
	}
	return out
})

/**
 * Returns the parts of a range that blocks hold.
 * @param {string} prefix @param {number} width @param {number} start @param {number} length
 */
async function stored(prefix, width, start, length) {
	/** @type {Part[]} */
	const out = [], end = start + length
	for (let b = Math.floor(start / width); b * width < end; b++) {
		for (const { at, bytes } of await blocks(prefix + b)) {
			const lo = Math.max(at, start), hi = Math.min(at + bytes.length, end)
			if (hi > lo) out.push({ at: lo, bytes: bytes.subarray(lo - at, hi - at) })
		}
	}
	return out
}

/** After how many rows a search ends. */
const mostHits = 10_000

/**
 * Returns the rows that hold a text, in order. Letters of ASCII are the same in both cases.
 * @param {Rows} rows @param {Bytes} bytes @param {string} query
 * @param {(part: number, found: number) => boolean} goesOn is told how much is done
 */
async function search(rows, bytes, query, goesOn) {
	const step = 1 << 20, latin = new TextDecoder('latin1')
	const inString = (/** @type {string} */ s) => JSON.stringify(s).slice(1, -1)
	const ascii = (/** @type {string} */ s) => s.replace(/[^\0-\x7f]/g, c => '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0'))
	const once = inString(query)
	const needles = [...new Set([query, once, inString(once), ascii(once)])].map(s => latin.decode(new TextEncoder().encode(s)))
	const pattern = new RegExp(needles.map(s => s.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|'), 'gi')
	const reach = Math.max(...needles.map(s => s.length)) - 1
	/** @type {Set<number>} */
	const found = new Set()
	for (let from = 0; from < bytes.variant.size && found.size < mostHits; from += step) {
		const offsets = []
		for (const part of await bytes.read(from, Math.min(step + reach, bytes.variant.size - from))) {
			for (const match of latin.decode(part.bytes).matchAll(pattern)) offsets.push(part.at + match.index)
		}
		if (offsets.length) {
			for (const row of await rows.around(offsets)) if (row >= 0) found.add(row)
		}
		if (!goesOn(Math.min(1, (from + step) / bytes.variant.size), found.size)) return
	}
	return [...found].sort((a, b) => a - b)
}
