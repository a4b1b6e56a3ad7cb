// What a repair changed, line by line.

/** So many changes, and lines of each, are told. */
const most = 200
/** A longer line is cut. */
const longest = 2000

const decoder = new TextDecoder()

/**
 * A change: the lines that are gone and new, and the lines around them.
 * @typedef {{ above: string, gone: string[], fresh: string[], below: string }} Change
 */

/** Returns the changes, and whether there are more. */
export function changes(/** @type {Uint8Array} */ before, /** @type {Uint8Array} */ after) {
	const [a, b] = [lines(before), lines(after)]
	/** @type {Change[]} */
	const list = []
	let ends = 0 // how many lines at the end are the same
	while (ends < a.length && ends < b.length && a[a.length - 1 - ends] === b[b.length - 1 - ends]) ends++
	for (let i = 0, k = 0; i < a.length - ends || k < b.length - ends;) {
		if (a[i] === b[k] && i < a.length - ends && k < b.length - ends) {
			i++, k++
			continue
		}
		if (list.length === most) return { list, more: true }
		const [x, y] = meet(a, i, a.length - ends, b, k, b.length - ends)
		list.push({ above: short(a[i - 1] ?? ''), gone: some(a, i, x), fresh: some(b, k, y), below: short(a[x] ?? '') })
		i = x, k = y
	}
	return { list, more: false }
}

/** The lines of a text. If it has few, elements are lines, too. */
function lines(/** @type {Uint8Array} */ text) {
	const s = decoder.decode(text), all = s.split('\n')
	return all.length * 500 > s.length || s.length > 4 << 20 ? all : s.split(/\n|(?<=[,[{])(?=[{["])/)
}

/** Where two lists that differ are equal again. */
function meet(/** @type {string[]} */ a, /** @type {number} */ i, /** @type {number} */ aEnd, /** @type {string[]} */ b, /** @type {number} */ k, /** @type {number} */ bEnd) {
	for (let sum = 1; sum < 1000; sum++) {
		for (let x = 0; x <= sum; x++) {
			const from = i + x, to = k + sum - x
			if (from < aEnd && to < bEnd && a[from] === b[to] && a[from].trim().length > 2) return [from, to]
		}
	}
	return [aEnd, bEnd]
}

function some(/** @type {string[]} */ list, /** @type {number} */ from, /** @type {number} */ to) {
	const out = list.slice(from, Math.min(to, from + most)).map(short)
	if (to - from > most) out.push(`… ${to - from - most} more lines`)
	return out
}

function short(/** @type {string} */ line) { return line.length > longest ? line.slice(0, longest) + ' …' : line }
