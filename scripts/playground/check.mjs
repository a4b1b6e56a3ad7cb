// Serves the playground below a path, opens it in Chromium and checks what it does:
// check.mjs SITE TOOLGUARD AXE [PICTURES]
// SITE has it in a/b, built with the tag planted. PICTURES is a directory for pictures of it.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Browser } from '../page/browser.mjs'

const [site, command, axePath, pictures] = process.argv.slice(2)
const axe = readFileSync(axePath, 'utf8')
const fixtures = new URL('../../testdata/transcripts/', import.meta.url).pathname
const scratch = mkdtempSync(join(tmpdir(), 'playground-'))

const types = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.wasm': 'application/wasm' }
let requests = []
const server = createServer((request, response) => {
	requests.push(request.url)
	try {
		const body = readFileSync(join(site, request.url))
		response.writeHead(200, { 'content-type': types[extname(request.url)] ?? 'text/plain' }).end(body)
	} catch {
		response.writeHead(404).end()
	}
})
await new Promise(done => server.listen(0, '127.0.0.1', done))
const root = `http://127.0.0.1:${server.address().port}/a/b/`

let failed = 0, passed = 0
const browser = new Browser()

function same(got, want, what) {
	if (JSON.stringify(got) !== JSON.stringify(want)) throw new Error(`${what}: got ${JSON.stringify(got)}, want ${JSON.stringify(want)}`)
}

function holds(it, what) {
	if (!it) throw new Error(what)
}

const status = `document.getElementById('status')?.textContent`
const settled = `!/^(Reading|Loading)/.test(${status})`

/** Runs a check in a tab of its own, with the engine loaded. From then on it must not ask for anything. */
async function check(name, run, width = 1280, height = 800) {
	const start = Date.now(), tab = await browser.tab(width, height)
	try {
		await tab.open(root + 'index.html')
		await tab.until(`${status} === 'Nothing yet.'`)
		tab.events = tab.events.filter(e => !e.startsWith(`request: ${root}`))
		requests = []
		const note = await run(tab)
		const events = tab.events.filter(e => !/^request: (blob|data):/.test(e))
		holds(!events.length, events.slice(0, 5).join('\n'))
		same(requests, [], 'requests after load')
		same(await tab.run(`[location.href, localStorage.length, sessionStorage.length, document.cookie]`), [root + 'index.html', 0, 0, ''], 'what is kept')
		passed++
		console.log(`ok   ${name} (${((Date.now() - start) / 1000).toFixed(1)} s)${note ? ': ' + note : ''}`)
	} catch (error) {
		failed++
		console.log(`FAIL ${name}: ${error.message}`)
	}
	await tab.close()
}

/** Drops bytes as a file. */
async function drop(tab, name, bytes, seconds = 20) {
	const path = join(scratch, name)
	await tab.run(`document.getElementById('file').value = ''`) // the same file again is no change
	writeFileSync(path, bytes)
	const { root: { nodeId } } = await tab.send('DOM.getDocument')
	const field = await tab.send('DOM.querySelector', { nodeId, selector: '#file' })
	await tab.run(`document.getElementById('status').textContent = 'Reading'`)
	await tab.send('DOM.setFileInputFiles', { nodeId: field.nodeId, files: [path] })
	await tab.until(settled, seconds)
}

async function type(tab, text) {
	await tab.run(`(() => { const f = document.getElementById('input'); f.value = ''; f.focus(); document.getElementById('status').textContent = 'Reading' })()`)
	await tab.send('Input.insertText', { text })
	await tab.until(settled)
}

/** The bytes of the repaired text as base64, null for none. */
const repairedText = `repaired ? btoa(Array.from(repaired, b => String.fromCharCode(b)).join('')) : null`

async function accessible(tab, what) {
	const before = tab.events
	await tab.run(axe)
	const violations = await tab.run(`axe.run({ exclude: ['iframe'] }, { iframes: false, runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] }).then(r => r.violations.map(v => v.id + ': ' + v.help + ' ' + v.nodes.slice(0, 3).map(n => n.target + ' ' + (n.any[0]?.message ?? '')).join('; ')))`)
	same(violations, [], `axe, ${what}`)
	tab.events = before.filter(e => !/style-src|ContentSecurityPolicy/.test(e)) // axe itself
}

const broken = readFileSync(join(fixtures, 'anthropic/broken/cut-session.json'))

/** A history of about so many bytes with one call without a result. */
function long(bytes) {
	const turn = n => JSON.stringify({ role: n % 2 ? 'assistant' : 'user', content: `turn ${n} ` + 'some words of a long history '.repeat(36) })
	const turns = []
	for (let n = 0, size = 0; size < bytes; n++) size += turns[turns.push(turn(n)) - 1].length + 2
	if (turns.length % 2 === 0) turns.pop()
	turns.push('{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"ls","input":{}}]}', '{"role":"user","content":"Well?"}')
	return `[${turns.join(',\n')}]`
}

try {
	await check('the same findings and bytes as the command', async tab => {
		const files = readdirSync(fixtures, { recursive: true }).filter(name => /\/broken\/[^/]*\.jsonl?$/.test(name)).sort()
		const step = Math.max(1, Math.floor(files.length / 24)), picked = files.filter((_, i) => i % step === 0).slice(0, 24)
		let changed = 0, findings = 0
		for (const [i, name] of picked.entries()) {
			const text = readFileSync(join(fixtures, name)), base = `f${i}${extname(name)}`, path = join(scratch, base)
			await drop(tab, base, text)
			const shown = await tab.run(`document.querySelectorAll('#findings > li').length`), bytes = await tab.run(repairedText)
			const run = (...args) => spawnSync(command, args, { cwd: scratch, encoding: 'utf8' })
			const report = JSON.parse(run('check', '--isolated', '-o', 'json', base).stdout)
			same(shown, report.findings.length, `${name}: findings`)
			run('fix', '--isolated', '--write', '--force', '--backup=none', '--quiet', base)
			const want = readFileSync(path)
			same(bytes ? Buffer.from(bytes, 'base64').equals(want) : want.equals(text), true, `${name}: repaired bytes`)
			changed += bytes ? 1 : 0
			findings += shown
		}
		holds(picked.length >= 20 && changed >= 8, `${picked.length} files, ${changed} changed`)
		return `${picked.length} files, ${findings} findings, ${changed} repaired`
	})

	await check('a finding is selected in the field', async tab => {
		await type(tab, broken.toString())
		await tab.run(`document.querySelector('#findings button').click()`)
		same(await tab.run(`(f => f.value.slice(f.selectionStart, f.selectionEnd))(document.activeElement)`), '"toolu_02Test"', 'the selection')
	})

	await check('an error is explained', async tab => {
		await type(tab, '400 messages.6: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1')
		same(await tab.run(`[${status}, document.querySelector('#explained h2').textContent]`), ['This error has a known cause.', 'missing-tool-result'], 'the explanation')
		await accessible(tab, 'explained')
		await type(tab, 'nothing that is known')
		holds(/^This is not a transcript/.test(await tab.run(status)), await tab.run(status))
	})

	await check('classes and strategies of repairs', async tab => {
		await type(tab, broken.toString())
		const additive = await tab.run(repairedText)
		const choose = async (id, value) => {
			await tab.run(`(() => { document.getElementById('status').textContent = 'Reading'; const s = document.getElementById('${id}'); s.value = '${value}'; s.dispatchEvent(new Event('change')) })()`)
			await tab.until(settled)
		}
		await choose('allow', 'unsafe')
		const unsafe = await tab.run(repairedText)
		await choose('allow', 'safe')
		const safe = await tab.run(repairedText)
		holds(additive && unsafe && additive !== unsafe && safe !== additive, 'the class of repairs changes nothing')
		const list = await tab.run(`[...document.querySelectorAll('#strategies select')].map(s => [s.id, s.options[1].value])`)
		holds(list.length > 0, 'no strategies')
		await choose(list[0][0], list[0][1])
		await choose('provider', await tab.run(`document.getElementById('provider').options[1].value`))
		await choose('format', 'openai-chat')
		holds(!/internal/.test(await tab.run(status)), await tab.run(status))
	})

	await check('the repaired text can be used', async tab => {
		await type(tab, broken.toString())
		const bytes = await tab.run(repairedText)
		same(await tab.run(`[...document.querySelectorAll('#repairs li')].map(li => li.textContent)`), ['insert a placeholder result into messages.2 (additive)', '1 problem left'], 'repairs')
		await tab.run(`document.getElementById('use').click()`)
		same(await tab.run(`btoa(unescape(encodeURIComponent(document.getElementById('input').value)))`), bytes, 'the field')
	})

	await check('map', async tab => {
		await type(tab, broken.toString())
		await tab.run(`document.getElementById('show').click()`)
		await tab.until(`!document.getElementById('map').hidden`)
		const context = await frame(tab)
		holds(context.rows > 3 && context.text.includes('missing-tool-result'), `${context.rows} rows: ${context.text.slice(0, 200)}`)
		return `${context.rows} rows`
	})

	await check('keys', async tab => {
		const want = await tab.run(`[...document.querySelectorAll('input, select, button, textarea')].filter(e => e.checkVisibility()).map(e => e.id)`)
		const seen = []
		for (let i = 0; i < want.length + 3; i++) {
			await tab.press('Tab')
			seen.push(await tab.run('document.activeElement.id'))
		}
		same(want.filter(id => !seen.includes(id)), [], 'not reached by Tab')
		await type(tab, broken.toString())
		for (let i = 0; i < 30 && !await tab.run(`document.activeElement.matches('#findings button')`); i++) await tab.press('Tab')
		await tab.send('Input.dispatchKeyEvent', { type: 'keyDown', key: 'Enter', code: 'Enter', windowsVirtualKeyCode: 13, text: '\r' })
		await tab.send('Input.dispatchKeyEvent', { type: 'keyUp', key: 'Enter', code: 'Enter', windowsVirtualKeyCode: 13 })
		same(await tab.run('document.activeElement.id'), 'input', 'the focus after Enter on a finding')
		for (let i = 0; i < 40 && await tab.run('document.activeElement.id') !== 'show'; i++) await tab.press('Tab')
		await tab.send('Input.dispatchKeyEvent', { type: 'keyDown', key: 'Enter', code: 'Enter', windowsVirtualKeyCode: 13, text: '\r' })
		await tab.until(`!document.getElementById('map').hidden`)
	})

	for (const width of [320, 400, 1280]) {
		for (const dark of [false, true]) {
			await check(`${width} px, ${dark ? 'dark' : 'light'}`, async tab => {
				await tab.dark(dark)
				await accessible(tab, 'empty')
				await type(tab, broken.toString())
				await accessible(tab, 'findings')
				holds(await tab.run('document.documentElement.scrollWidth <= innerWidth'), 'it scrolls to the side')
				if (pictures) {
					await tab.resize(width, 2000)
					await tab.run(`document.getElementById('show').click()`)
					await tab.until(`!document.getElementById('map').hidden`)
					await new Promise(done => setTimeout(done, 800))
					writeFileSync(join(pictures, `${width}-${dark ? 'dark' : 'light'}.png`), await tab.picture())
				}
			}, width)
		}
	}

	await check('hostile text', async tab => {
		const call = id => JSON.stringify([{ role: 'user', content: 'go' }, { role: 'assistant', content: [{ type: 'tool_use', id, name: '<script>owned=1</script>', input: {} }] }, { role: 'user', content: 'well?' }])
		for (const id of ['<img src=x onerror=owned=1>', '\u202eevil\u2066', '"\'`</textarea></script><script>owned=1</script>', '\0\x01', '\ud800']) {
			await drop(tab, 'hostile.json', call(id))
			holds(await tab.run(`document.querySelectorAll('#findings li').length > 0`), `${JSON.stringify(id)}: ${await tab.run(status)}`)
			same(await tab.run(`document.querySelectorAll('main img, main script').length`), 0, 'elements of the text')
			same(await tab.run(`/[\\0-\\x08\\u202a-\\u202e\\u2066-\\u2069]/.test(document.getElementById('findings').textContent + document.getElementById('changes').textContent)`), false, 'hidden characters')
		}
		const deep = '[{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"ls","input":' + '{"a":'.repeat(100) + '1' + '}'.repeat(100) + '}]},{"role":"user","content":"well?"}]'
		await drop(tab, 'deep.json', deep)
		holds(await tab.run(`document.querySelectorAll('#findings li').length > 0`), 'no finding 100 levels deep')
		await drop(tab, 'bytes.json', Buffer.concat([Buffer.from('[{"role":"user","content":"'), Buffer.from([0xff, 0xfe, 0]), Buffer.from('"}]')]))
		same(await tab.run('typeof owned'), 'undefined', 'owned')
	})

	await check('the engine ends and is renewed', async tab => {
		for (const what of ['planted-panic', 'planted-stack', 'planted-memory']) {
			await type(tab, `[{"role":"user","content":"${what}"}]`)
			holds(/internal error|engine ended/.test(await tab.run(status)), `${what}: ${await tab.run(status)}`)
			requests = [] // that the new engine loads
			tab.events = tab.events.filter(e => !e.startsWith(`request: ${root}`))
			await type(tab, broken.toString())
			same(await tab.run(`document.querySelectorAll('#findings > li').length`), 3, `findings after ${what}`)
			requests = []
			tab.events = tab.events.filter(e => !e.startsWith(`request: ${root}`))
		}
	})

	for (const size of [1, 49]) {
		await check(`${size} MB`, async tab => {
			const text = long(size * 2 ** 20), start = Date.now()
			await tab.run(`window.worst = 0; { let last = performance.now(); setInterval(() => { const now = performance.now(); worst = Math.max(worst, now - last); last = now }, 10) }`)
			await drop(tab, 'long.json', text, 120)
			const ms = Date.now() - start
			same(await tab.run(`document.querySelectorAll('#findings > li').length`), 1, await tab.run(status))
			same(await tab.run(`document.querySelectorAll('#changes > pre').length`), 1, 'changes')
			await tab.run(`document.querySelector('#findings button').click()`)
			same(await tab.run(`(f => f.value.slice(f.selectionStart, f.selectionEnd))(document.activeElement)`), '"toolu_1"', 'the selection')
			await tab.run(`document.getElementById('show').click()`)
			await tab.until(`!document.getElementById('map').hidden`, 120)
			const worst = await tab.run('worst'), memory = await tab.run('memory') / 2 ** 20, heap = (await tab.send('Runtime.getHeapUsage')).usedSize / 2 ** 20
			holds(worst < 1000, `the page did not answer for ${worst.toFixed(0)} ms`)
			holds(memory < 1500, `the engine has ${memory.toFixed(0)} MB`)
			return `${ms} ms, pauses of at most ${worst.toFixed(0)} ms, engine ${memory.toFixed(0)} MB, heap ${heap.toFixed(0)} MB`
		})
	}

	await check('above the limit', async tab => {
		await drop(tab, 'over.json', Buffer.alloc(51 * 2 ** 20, ' '))
		same(await tab.run(status), 'This file has 51 MB. The page takes 50 MB: use toolguard check and toolguard fix --write.', 'status')
	})

	const disk = await browser.tab()
	await disk.open(pathToFileURL(join(site, 'a/b/index.html')).href)
	await disk.until(`${status}.includes('python3 -m http.server')`).then(() => passed++, error => {
		failed++
		console.log(`FAIL from disk: ${error.message} ${disk.events}`)
	})
} finally {
	await browser.close()
	server.close()
	rmSync(scratch, { recursive: true, force: true })
}
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed ? 1 : 0

/** What the frame of the map shows. It is sandboxed, so it is a target of its own. */
async function frame(tab) {
	const sessions = []
	let why = ''
	const listener = ({ method, params, sessionId }) => {
		if (sessionId === tab.session && method === 'Target.attachedToTarget' && params.targetInfo.type === 'iframe') sessions.push(params.sessionId)
	}
	browser.listeners.add(listener)
	try {
		await tab.send('Target.setAutoAttach', { autoAttach: true, waitForDebuggerOnStart: false, flatten: true })
		for (let i = 0; i < 100; i++) {
			for (const session of sessions) {
				const { result, exceptionDetails } = await browser.send('Runtime.evaluate', { returnByValue: true, expression: `document.querySelector('.row') && { rows: document.querySelectorAll('.row').length, text: document.body.innerText }` }, session)
				if (result.value?.rows) return result.value
				why = exceptionDetails?.exception?.description ?? JSON.stringify(result)
			}
			await new Promise(done => setTimeout(done, 50))
		}
	} finally {
		browser.listeners.delete(listener)
	}
	throw new Error(`the frame shows no rows, ${sessions.length} frames: ${why}`)
}
