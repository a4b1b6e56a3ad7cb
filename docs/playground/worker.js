// The engine, off the page's own thread. It answers one message after another:
// {id, options, input} gets {id, answer, text, diff, memory} or {id, dead}.
import { compile } from './core/dist/wasm-web.js'
import { Engine } from './core/dist/engine.js'
import { changes } from './diff.js'

const started = compile(undefined).then(module => new Engine(module))

onmessage = async ({ data: { id, options, input } }) => {
	try {
		const engine = await started, { answer, text } = engine.call(options, input)
		const diff = text && options.operation === 'fix' ? changes(input, text) : undefined
		postMessage({ id, answer, text, diff, memory: engine.memory }, text ? { transfer: [text.buffer] } : {})
	} catch (e) {
		// It does not live on: its memory is full, or it could not be loaded.
		postMessage({ id, dead: e instanceof Error ? e.message : String(e) })
	}
}
