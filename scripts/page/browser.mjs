// A headless Chromium, driven through the DevTools protocol over pipes.
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

/** The path of Chromium. */
export function chromium() {
	const paths = process.env.CHROMIUM ? [process.env.CHROMIUM] : (process.env.PATH ?? '').split(':').flatMap(dir => names.map(name => join(dir, name)))
	const found = paths.find(path => existsSync(path))
	if (!found) throw new Error('Chromium is not installed')
	return found
}

export class Browser {
	constructor() {
		this.profile = mkdtempSync(join(tmpdir(), 'toolguard-page-'))
		this.process = spawn(chromium(), [
			'--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update',
			'--disable-sync', '--disable-extensions', '--disable-dev-shm-usage', '--hide-scrollbars=false', '--remote-debugging-pipe', '--enable-precise-memory-info',
			'--js-flags=--expose-gc', `--user-data-dir=${this.profile}`, 'about:blank',
		], { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'], detached: true })
		this.waiting = new Map()
		this.listeners = new Set()
		this.last = 0
		let rest = []
		this.process.stdio[4].on('data', chunk => {
			for (let end; (end = chunk.indexOf(0)) >= 0; chunk = chunk.subarray(end + 1)) {
				const message = JSON.parse(Buffer.concat([...rest, chunk.subarray(0, end)]).toString())
				rest = []
				this.#receive(message)
			}
			rest.push(chunk)
		})
		this.ended = new Promise(done => this.process.on('exit', done))
		this.ended.then(() => {
			for (const { no } of this.waiting.values()) no(new Error('Chromium has ended'))
		})
	}

	#receive(message) {
		const call = this.waiting.get(message.id)
		if (call) {
			this.waiting.delete(message.id)
			if (message.error) call.no(new Error(`${call.method}: ${message.error.message}`))
			else call.yes(message.result)
			return
		}
		for (const listener of this.listeners) listener(message)
	}

	send(method, params = {}, sessionId = undefined) {
		const id = ++this.last
		return new Promise((yes, no) => {
			this.waiting.set(id, { method, yes, no })
			this.process.stdio[3].write(JSON.stringify({ id, method, params, sessionId }) + '\0')
		})
	}

	/** Opens an empty tab. */
	async tab(width = 1280, height = 800) {
		const { targetId } = await this.send('Target.createTarget', { url: 'about:blank' })
		const { sessionId } = await this.send('Target.attachToTarget', { targetId, flatten: true })
		const tab = new Tab(this, targetId, sessionId)
		await Promise.all(['Page.enable', 'Runtime.enable', 'Log.enable', 'Network.enable', 'Audits.enable', 'Performance.enable'].map(m => tab.send(m)))
		await tab.resize(width, height)
		return tab
	}

	async close() {
		// Chromium is a group of processes, and the last of them still write for a moment.
		process.kill(-this.process.pid, 'SIGKILL')
		await this.ended
		for (let tries = 20; ; tries--) {
			try {
				return rmSync(this.profile, { recursive: true, force: true })
			} catch (error) {
				if (!tries) throw error
				await new Promise(done => setTimeout(done, 100))
			}
		}
	}
}

/** A tab, with everything that happens in it and must not. */
export class Tab {
	constructor(browser, target, session) {
		this.browser = browser
		this.target = target
		this.session = session
		/** What the page asked for besides itself, what it logged, and what its policy stopped. */
		this.events = []
		this.url = ''
		this.listener = ({ method, params, sessionId }) => {
			if (sessionId !== session) return
			switch (method) {
			case 'Network.requestWillBeSent':
				if (params.request.url.split('#')[0] !== this.url && !params.request.url.startsWith('blob:null')) this.events.push(`request: ${params.request.url.slice(0, 200)}`)
				break
			case 'Runtime.exceptionThrown':
				this.events.push(`exception: ${params.exceptionDetails.exception?.description ?? params.exceptionDetails.text}`)
				break
			case 'Runtime.consoleAPICalled':
				this.events.push(`console.${params.type}: ${params.args.map(a => a.value ?? a.description).join(' ')}`)
				break
			case 'Log.entryAdded':
				this.events.push(`log ${params.entry.level}: ${params.entry.text}`)
				break
			case 'Audits.issueAdded':
				this.events.push(`issue: ${params.issue.code} ${JSON.stringify(params.issue.details).slice(0, 300)}`)
				break
			}
		}
		browser.listeners.add(this.listener)
	}

	send(method, params) {
		return this.browser.send(method, params, this.session)
	}

	resize(width, height) {
		return this.send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: false })
	}

	dark(dark) {
		return this.send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: dark ? 'dark' : 'light' }] })
	}

	/** Opens a page. Does not wait until it is read. */
	async open(url) {
		this.url = url.split('#')[0]
		await this.send('Page.navigate', { url })
	}

	/** Runs an expression, which may be a promise, and returns its value. */
	async run(expression) {
		const { result, exceptionDetails } = await this.send('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true })
		if (exceptionDetails) throw new Error(`${exceptionDetails.exception?.description ?? exceptionDetails.text}\nin ${expression.slice(0, 300)}`)
		return result.value
	}

	/** Waits until an expression holds. */
	async until(expression, seconds = 20) {
		const end = Date.now() + seconds * 1000
		for (;;) {
			const value = await this.run(expression)
			if (value) return value
			if (Date.now() > end) throw new Error(`after ${seconds} s still not: ${expression}`)
			await new Promise(done => setTimeout(done, 20))
		}
	}

	/** Presses a key. */
	async press(key) {
		const named = { Enter: 13, Escape: 27, End: 35, Home: 36, ArrowLeft: 37, ArrowUp: 38, ArrowRight: 39, ArrowDown: 40, PageDown: 34, PageUp: 33, Tab: 9 }[key]
		const common = { key, windowsVirtualKeyCode: named ?? key.toUpperCase().charCodeAt(0), text: named ? undefined : key }
		await this.send('Input.dispatchKeyEvent', { type: named ? 'rawKeyDown' : 'keyDown', ...common })
		await this.send('Input.dispatchKeyEvent', { type: 'keyUp', ...common, text: undefined })
	}

	async click(x, y) {
		for (const type of ['mousePressed', 'mouseReleased']) await this.send('Input.dispatchMouseEvent', { type, x, y, button: 'left', clickCount: 1 })
	}

	/** Returns a picture of the page as PNG. */
	async picture() {
		return Buffer.from((await this.send('Page.captureScreenshot', { format: 'png' })).data, 'base64')
	}

	async close() {
		this.browser.listeners.delete(this.listener)
		await this.browser.send('Target.closeTarget', { targetId: this.target })
	}
}
