// Takes pictures of pages: shots.mjs OUT.png URL [WIDTH [HEIGHT [dark] [KEYS…]]]
import { writeFileSync } from 'node:fs'
import { Browser } from './browser.mjs'

const [out, url, width = '1280', height = '800', theme = 'light', ...keys] = process.argv.slice(2)
const browser = new Browser()
try {
	const tab = await browser.tab(Number(width), Number(height))
	await tab.dark(theme === 'dark')
	await tab.open(url)
	await tab.until(`document.readyState === 'complete' && (!document.querySelector('#view') || document.querySelector('.row'))`)
	for (const key of keys) {
		await tab.press(key)
		await new Promise(done => setTimeout(done, 200))
	}
	await new Promise(done => setTimeout(done, 400))
	writeFileSync(out, await tab.picture())
	if (tab.events.length) console.log(tab.events.join('\n'))
} finally {
	await browser.close()
}
