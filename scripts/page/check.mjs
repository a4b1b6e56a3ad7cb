// Opens the pages of a folder in Chromium and checks what they do: check.mjs DIR AXE
// TestPages in internal/page writes the folder. AXE is the script of axe-core.
import { readFileSync, readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Browser } from './browser.mjs'

const dir = resolve(process.argv[2])
const axe = readFileSync(process.argv[3], 'utf8')
const url = name => pathToFileURL(join(dir, name)).href

let failed = 0, passed = 0
const browser = new Browser()

function same(got, want, what) {
	if (JSON.stringify(got) !== JSON.stringify(want)) throw new Error(`${what}: got ${JSON.stringify(got)}, want ${JSON.stringify(want)}`)
}

function holds(it, what) {
	if (!it) throw new Error(what)
}

/** What must not have happened in a tab. */
function quiet(tab) {
	const events = tab.events
	tab.events = []
	holds(!events.length, events.slice(0, 5).join('\n'))
}

/** Runs a check in a tab of its own. */
async function check(name, run, ...size) {
	const start = Date.now()
	const tab = await browser.tab(...size)
	try {
		const note = await run(tab)
		quiet(tab)
		passed++
		console.log(`ok   ${name} (${((Date.now() - start) / 1000).toFixed(1)} s)${note ? ': ' + note : ''}`)
	} catch (error) {
		failed++
		console.log(`FAIL ${name}: ${error.message}`)
	}
	await tab.close()
}

/** Opens a page and waits until it has rows and is read. */
async function open(tab, name) {
	await tab.open(url(name))
	await tab.until(`document.readyState === 'complete' && (document.querySelector('.row') || !document.getElementById('view')) && true`, 60)
}

const chosen = `Number(document.querySelector('.row[aria-selected=true]')?.id.slice(4) ?? -1)`
const panelOf = `document.getElementById('panel').hidden ? -1 : Number(document.getElementById('panel').dataset.row)`

/** Waits until a row is selected and the panel shows it. */
async function until(tab, row) {
	await tab.until(`${chosen} === ${row} && (${panelOf}) === ${row}`).catch(async error => {
		throw new Error(`${error.message}; selected is ${await tab.run(chosen)}`)
	})
}

/** All elements of a page have names that its script uses. */
const foreign = `[...document.querySelectorAll('*')].map(el => el.localName).filter(name => !/^(html|head|meta|title|style|body|header|div|h[1-4]|p|span|a|section|details|summary|code|q|ul|li|small|main|script|noscript|button|input|svg|path|circle|canvas|bdi|pre|dialog|dl|dt|dd|kbd|label|select|option|table|thead|tbody|tr|th|td)$/.test(name))`

/** In the page: follows each link of the problems, and returns what does not land. */
async function follow(most) {
	const wrong = []
	const inView = el => {
		if (!el) return false
		const { left, top, right, bottom } = el.getBoundingClientRect()
		const x = left + Math.min(60, (right - left) / 2), y = (top + bottom) / 2
		return top >= 0 && bottom <= innerHeight && el.contains(document.elementFromPoint(x, y))
	}
	const links = [...document.querySelectorAll('#problems li a')].slice(0, most)
	for (const link of links) {
		const row = Number(link.hash.slice(5)), end = performance.now() + 5000
		document.getElementById('panel').removeAttribute('data-row')
		link.click()
		for (;;) {
			const panel = document.getElementById('panel'), el = document.getElementById('row-' + row)
			const ready = el?.getAttribute('aria-selected') === 'true' && panel.dataset.row === String(row)
			if (ready) {
				const rect = panel.getBoundingClientRect()
				const other = document.querySelector('.row[aria-selected=true]') && page.rows.peek(row).o
				const far = other >= 0 && (document.getElementById('row-' + other) ?? null)
				const pin = document.querySelector(`.pin[data-row="${other}"]:not([hidden])`)
				const what = !inView(el) ? 'is not in view' : other >= 0 && !inView(far) && !inView(pin) ? `the other end, row ${other}, is not in view` :
					!panel.querySelector('.problem') ? 'the panel shows no problem' : rect.height < 50 ? 'the panel is not in view' : ''
				if (!what) break
				if (performance.now() > end) { wrong.push(`${link.hash}: ${what}`); break }
			} else if (performance.now() > end) {
				wrong.push(`${link.hash}: not selected`)
				break
			}
			await new Promise(done => setTimeout(done, 10))
		}
	}
	return { n: links.length, wrong }
}

async function followed(tab, most = 100) {
	const { n, wrong } = await tab.run(`(${follow})(${most})`)
	same(wrong, [], 'links')
	return n
}

async function accessible(tab, what) {
	await tab.run(axe)
	const violations = await tab.run(`axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] }).then(r => r.violations.map(v => v.id + ': ' + v.help + ' ' + v.nodes.slice(0, 3).map(n => n.target + ' ' + (n.any[0]?.message ?? '')).join('; ')))`)
	same(violations, [], `axe, ${what}`)
	tab.events = tab.events.filter(e => !e.includes('style-src')) // axe itself
}

try {
	for (const name of ['small.html', 'hostile.html', 'shortened.html']) {
		await check(`${name}: nothing foreign`, async tab => {
			await open(tab, name)
			same(await tab.run(foreign), [], 'elements')
			const rows = await tab.run('page.rows.count')
			for (let row = 0; row < rows; row += Math.ceil(rows / 120)) await tab.run(`page.map.select(${row})`)
			await tab.until(`(${panelOf}) >= 0`)
			same(await tab.run(foreign), [], 'elements')
			same(await tab.run('typeof owned'), 'undefined', 'owned')
			const shown = await tab.run(`document.body.innerText`)
			same(/[\0-\x08\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u200b\u200e\u200f\ufeff]/.exec(shown), null, 'hidden characters')
			if (name === 'shortened.html') holds(shown.includes('bytes of each string are on this page'), 'the page does not say that it is shortened')
			return `${rows} rows`
		})
	}

	await check('keys', async tab => {
		await open(tab, 'small.html')
		const turn = `document.querySelector('.row[aria-selected=true] .no')?.lastChild?.textContent`
		for (const [key, want] of [['j', '0'], ['j', '1'], ['j', '2'], ['k', '1']]) {
			await tab.press(key)
			await tab.until(`${turn} === '${want}'`)
		}
		const problems = await tab.run('page.rows.problems.map(p => p[0])')
		for (const row of problems) {
			await tab.press('n')
			await until(tab, row)
		}
		await tab.press('n')
		await until(tab, problems[0])
		await tab.press('p')
		await until(tab, problems.at(-1))
		await tab.press('Home')
		await tab.until(`${chosen} === 0`)
		await tab.press('ArrowDown')
		await tab.until(`${chosen} === 1`)
		const call = await tab.run(`(async () => { for (let i = 0;; i++) { const row = await page.rows.get(i); if (row.k === 'call' && row.o >= 0) return [i, row.o] } })()`)
		await tab.run(`page.map.select(${call[0]})`)
		await until(tab, call[0])
		await tab.press('c')
		await until(tab, call[1])
		await tab.press('c')
		await until(tab, call[0])
		await tab.press('End')
		await tab.until(`${chosen} === page.rows.count - 1`)
		await tab.press('Enter')
		same(await tab.run('document.activeElement.id'), 'panel', 'the focus after Enter')
		await tab.press('Escape')
		same(await tab.run(`document.getElementById('panel').hidden`), true, 'the panel after Escape')
		await tab.press('/')
		same(await tab.run('document.activeElement.type'), 'search', 'the focus after /')
		await tab.press('j')
		same(await tab.run(`[document.activeElement.value, ${chosen} === page.rows.count - 1]`), ['j', true], 'j in the search field')
		await tab.press('Escape')
		await tab.press('?')
		await tab.until(`document.querySelector('dialog[open]')?.open`)
		await accessible(tab, 'dialog')
		await tab.run(`document.querySelector('dialog input').click()`)
		await tab.press('Escape')
		await tab.until(`!document.querySelector('dialog[open]')`)
		await tab.press('k')
		same(await tab.run(`${chosen} === page.rows.count - 1`), true, 'k without keys of one letter')
	})

	await check('click: the JSON of an element', async tab => {
		await open(tab, 'small.html')
		await tab.press('n')
		await tab.until(`(${panelOf}) >= 0`)
		const row = await tab.run(chosen)
		const { x, y } = await tab.run(`(() => { const b = document.getElementById('row-${row - 1}').getBoundingClientRect(); return { x: b.x + 200, y: b.y + 10 } })()`)
		await tab.click(x, y)
		await until(tab, row - 1)
		const json = `JSON.parse(document.querySelector('#panel .json pre').textContent)`
		same(Object.keys(await tab.run(json)).includes('type'), true, 'a type')
		await tab.run(`document.querySelector('#panel .json button').click()`)
		await tab.until(`document.querySelector('#panel .json button').textContent.startsWith('only')`)
		same(Object.keys(await tab.run(json)).includes('role'), true, 'a role in the whole message')
		// All of the source is on the page.
		const size = await tab.run(`page.bytes.text([0, page.head.size], 1e9).then(t => new TextEncoder().encode(t).length)`)
		same(size, await tab.run('page.head.size'), 'the size of the source')
	})

	await check('search', async tab => {
		await open(tab, 'small.html')
		await tab.press('/')
		const text = 'toolu_01'
		for (const c of text) await tab.press(c)
		await tab.until(`document.querySelector('.found').textContent.endsWith('found') && !document.querySelector('.found').textContent.startsWith('not')`)
		await tab.press('Enter')
		await tab.until(`document.querySelector('.found').textContent.startsWith('1 of')`)
		holds(await tab.run(`document.querySelector('.row[aria-selected=true]').classList.contains('hit')`), 'the selected row is no hit')
		await tab.run(`page.input.value = 'nobody has written this'; page.find()`)
		await tab.until(`document.querySelector('.found').textContent === 'not found'`)
	})

	await check('before and after', async tab => {
		await open(tab, 'small.html')
		await tab.press('n')
		const row = await tab.until(`(${panelOf}) > 0 && ${panelOf}`)
		const message = await tab.run(`document.querySelector('.row[aria-selected=true] .text').textContent`)
		await tab.run(`document.querySelectorAll('#variants button')[1].click()`)
		await tab.until(`page.variant.prefix === 's' && ${chosen} >= 0 && (${panelOf}) >= 0`)
		same(await tab.run(`document.querySelector('.row[aria-selected=true] .text').textContent`), message, 'the row in the repaired session')
		same(await tab.run('page.rows.problems.length'), 0, 'problems after the repair')
		await tab.press('c')
		await tab.until(`document.querySelector('.row[aria-selected=true]').classList.contains('edited')`)
		await tab.until(`document.querySelector('#panel .json pre')?.textContent.includes('tool_result')`)
		const size = await tab.run(`page.bytes.text([0, page.variant.size], 1e9).then(t => new TextEncoder().encode(t).length)`)
		same(size, await tab.run('page.variant.size'), 'the size of the repaired source')
		await tab.press('c')
		await tab.until(`document.querySelector('.row[aria-selected=true] .text').textContent === ${JSON.stringify(message)}`)
		await tab.run(`document.querySelectorAll('#variants button')[0].click()`)
		await until(tab, row)
	})

	for (const [width, height] of [[1280, 800], [400, 800], [320, 600]]) {
		await check(`links of problems, ${width} px wide`, async tab => {
			let n = 0
			const pages = ['small.html', 'hostile.html', 'far.html', ...readdirSync(join(dir, 'fixtures')).filter((_, i) => width > 400 || i % 8 === width % 8).map(f => 'fixtures/' + f)]
			for (const name of pages) {
				await open(tab, name).catch(() => {})
				try {
					n += await followed(tab, 30)
				} catch (error) {
					throw new Error(`${name}: ${error.message}`)
				}
				holds(await tab.run('document.documentElement.scrollWidth <= innerWidth'), `${name}: is wider than the window`)
				quiet(tab)
			}
			return `${n} links on ${pages.length} pages`
		}, width, height)
	}

	for (const name of ['small.html', 'hostile.html', 'index.html']) {
		for (const dark of [false, true]) {
			for (const width of [1280, 400]) {
				await check(`axe: ${name}, ${dark ? 'dark' : 'light'}, ${width} px`, async tab => {
					await tab.dark(dark)
					await open(tab, name)
					await accessible(tab, 'as it opens')
					if (name === 'index.html') return
					await tab.press('n')
					await tab.until(`(${panelOf}) >= 0`)
					await accessible(tab, 'with the panel')
				}, width, 800)
			}
		}
	}

	await check('index: filters', async tab => {
		await open(tab, 'index.html')
		const shown = `[...document.querySelectorAll('.cells li')].filter(el => el.checkVisibility()).length`
		const all = await tab.run(shown)
		await tab.run(`(() => { const s = document.querySelector('select[name=cause]'); s.selectedIndex = 2; s.dispatchEvent(new Event('change')) })()`)
		const some = await tab.run(shown)
		holds(some > 0 && some < all, `${some} of ${all} cells`)
		holds((await tab.run(`document.querySelector('.found').textContent`)).startsWith(some + ' of'), 'the number is not told')
		same(await tab.run(`[...document.querySelectorAll('tbody tr')].filter(el => el.checkVisibility()).length`), some, 'rows of the table')
		same(await tab.run(foreign), [], 'elements')
		return `${all} cells`
	})

	await check('index: filters are folded on a narrow screen', async tab => {
		await open(tab, 'index.html')
		same(await tab.run(`document.getElementById('filters').open`), false, 'open')
		holds(await tab.run(`document.querySelector('.cells li').getBoundingClientRect().bottom < innerHeight / 2`), 'the sessions are not in the upper half')
		await tab.run(`document.querySelector('#filters summary').click()`)
		holds(await tab.run(`document.querySelector('select[name=cause]').checkVisibility()`), 'the filters do not open')
		await accessible(tab, 'with open filters')
	}, 400, 800)

	await check('no transcript', async tab => {
		await tab.open(url('skipped.html'))
		await tab.until(`document.readyState === 'complete' && document.querySelector('.search')`)
		holds((await tab.run('document.body.innerText')).includes('Not a transcript'), 'the page does not say so')
		for (const key of ['j', 'k', 'n', 'p', 'c']) await tab.press(key)
		await tab.run(`page.input.value = 'dear'; page.find()`)
		await tab.until(`document.querySelector('.found').textContent === 'not found'`)
	})

	await check('a page that is cut off', async tab => {
		await open(tab, 'cut.html')
		await tab.run(`page.map.select(page.rows.count - 1)`)
		await tab.until(`document.querySelector('[role=alert]')`)
		holds((await tab.run('document.body.innerText')).includes('the page is incomplete'), 'the page does not say so')
	})

	await check('map of rows from elsewhere', async tab => {
		const file = name => readFileSync(new URL('../../internal/page/' + name, import.meta.url), 'utf8')
		await tab.run(`document.documentElement.style.height = '100%'; document.body.innerHTML = '<style></style><main><div id="view"></div></main>'; document.querySelector('style').textContent = ${JSON.stringify(file('page.css'))}`)
		await tab.run(`${file('map.js')}
			const count = 1_000_000, row = n => ({ k: n % 2 ? 'result' : 'call', t: n, f: true, at: [n, 1], n: 'Bash', x: 'row ' + n, o: n ^ 1, p: n === 500_000 ? [{ rule: 'a', severity: 'error', message: 'b' }] : undefined })
			const view = new MapView(document.getElementById('view'))
			view.show({ count, repaired: false, problems: [[500_000, 3]], far: [], threads: [], peek: row, get: async n => row(n) })`)
		const inView = n => `(() => { const b = document.getElementById('row-${n}')?.getBoundingClientRect(), l = view.list.getBoundingClientRect(); return b && b.top >= l.top - 1 && b.bottom <= l.bottom + 1 })()`
		for (const n of [0, 999_999, 500_000, 1, 123_457, 999_998, 333_333]) {
			await tab.run(`view.select(${n})`)
			holds(await tab.run(inView(n)) && await tab.run(inView(n ^ 1)), `row ${n} and its other end are not in view`)
		}
		await tab.run('view.problem(1)')
		holds(await tab.run(inView(500_000)), 'the problem is not in view')
		holds(await tab.run(`document.querySelectorAll('.row').length`) < 100, 'too many rows')
	})

	await check('threads are folded', async tab => {
		await open(tab, 'threads.html')
		const [row, end] = await tab.run(`page.rows.threads.reduce((a, b) => b[0] > a[0] ? b : a)`)
		const hidden = end - row - 1, count = await tab.run('page.rows.count')
		holds(hidden > 0 && row > 0, `the thread has rows ${row} to ${end}`)
		await tab.run(`page.map.list.focus(); page.map.select(${row})`)
		await until(tab, row)
		await tab.press('ArrowLeft')
		same(await tab.run(`[page.map.lines(), !!document.getElementById('row-${row + 1}'), !!document.getElementById('row-${end}')]`), [count - hidden, false, end < count], 'folded')
		holds((await tab.run(`document.getElementById('row-${row}').textContent`)).includes('folded'), 'the row does not say so')
		await accessible(tab, 'folded')
		await tab.press('ArrowDown')
		await until(tab, end)
		await tab.press('k')
		await tab.press('ArrowRight')
		await tab.press('ArrowUp')
		await tab.run(`document.querySelector('#row-${row} .fold').click()`)
		same(await tab.run(`page.map.lines()`), count - hidden, 'lines after a click')
		for (const [line, n] of [[row, row], [row + 1, end]]) same(await tab.run(`[page.map.rowAt(${line}), page.map.lineOf(${n})]`), [n, line], 'line and row')
		same(await tab.run(`page.map.lineOf(${row + 1})`), row, 'the line of a folded row')
		// Whoever asks for a folded row sees it.
		await tab.run(`document.querySelector('#problems a[href="#row-' + page.rows.problems.find(p => p[0] > ${row} && p[0] < ${end})[0] + '"]').click()`)
		await tab.until(`page.map.lines() === ${count} && (${panelOf}) > ${row}`)
		await tab.press('ArrowLeft')
		await until(tab, row)
		same(await tab.run(`page.map.lines()`), count - hidden, 'lines after folding from inside')
	})

	await check('without payloads', async tab => {
		await open(tab, 'quiet.html')
		await tab.press('n')
		await tab.until(`(${panelOf}) >= 0`)
		same(await tab.run(`[document.querySelectorAll('#panel section').length, document.querySelector('.search').checkVisibility()]`), [0, false], 'sections and search')
	})

	await check('without scripts', async tab => {
		await tab.send('Emulation.setScriptExecutionDisabled', { value: true })
		await tab.open(url('small.html'))
		await tab.until(`document.readyState === 'complete' && document.querySelector('#problems li')?.checkVisibility()`)
		const text = await tab.run('document.body.innerText')
		holds(text.includes('missing-tool-result') && text.includes('toolguard fix') && text.includes('The provider says'), 'problems, command or error is missing')
	})

	// The clock starts with the navigation and stops when a row is drawn.
	const first = async name => {
		const tab = await browser.tab()
		await tab.send('Page.addScriptToEvaluateOnNewDocument', { source: `{
			const look = () => document.querySelector('.row') ? requestAnimationFrame(() => { window.firstRow = performance.now() }) : requestAnimationFrame(look)
			look()
		}` })
		await tab.open(url(name))
		const ms = await tab.until('window.firstRow', 60)
		await tab.close()
		return ms
	}
	const median = list => list.sort((a, b) => a - b)[list.length >> 1]
	await check('50 MB: first rows', async () => {
		const small = [], big = []
		await first('1mb.html')
		for (let i = 0; i < 5; i++) {
			small.push(await first('1mb.html'))
			big.push(await first('50mb.html'))
		}
		const [s, b] = [median(small), median(big)]
		holds(b <= 3 * s, `${b.toFixed(0)} ms, and ${s.toFixed(0)} ms for 1 MB`)
		return `${b.toFixed(0)} ms, and ${s.toFixed(0)} ms for 1 MB`
	})

	for (const name of ['50mb.html', 'turns.html']) {
		await check(`${name}: heap`, async tab => {
			const heap = async () => (await tab.send('Runtime.getHeapUsage')).usedSize / 1e6
			let most = 0, elements = 0
			await open(tab, name)
			const look = async () => {
				most = Math.max(most, await heap())
				elements = Math.max(elements, await tab.run(`document.querySelectorAll('#view *').length`))
			}
			for (let i = 0; i <= 40; i++) {
				await tab.run(`page.map.scrollTo(page.rows.count * ${i / 40})`)
				await tab.until(`document.querySelector('.row')`)
				await tab.run('new Promise(done => setTimeout(done, 40))')
				await look()
			}
			await tab.run(`page.map.list.focus()`)
			await tab.press('End')
			await tab.until(`(${panelOf}) === page.rows.count - 1`)
			await tab.press('Home')
			await tab.until(`(${panelOf}) === 0 && document.getElementById('row-0')`)
			const start = Date.now()
			await tab.run(`page.input.value = 'function that nobody calls'; void page.find()`)
			while (!await tab.run(`document.querySelector('.found').textContent === 'not found'`)) {
				await look()
				await new Promise(done => setTimeout(done, 50))
				holds(Date.now() - start < 60_000, 'the search does not end')
			}
			const seconds = (Date.now() - start) / 1000
			await tab.run(`page.input.value = 'the'; void page.find()`)
			await tab.until(`/found$/.test(document.querySelector('.found').textContent)`, 60)
			await look()
			holds(most <= 200, `${most.toFixed(0)} MB of heap`)
			holds(elements < 3000, `${elements} elements`)
			holds(seconds <= 8, `the search takes ${seconds} s`)
			return `at most ${most.toFixed(0)} MB and ${elements} elements for ${await tab.run('page.rows.count')} rows, search of all in ${seconds.toFixed(1)} s, ${await tab.run('page.hits.length')} rows with 'the'`
		})
	}
} finally {
	await browser.close()
}
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed ? 1 : 0
