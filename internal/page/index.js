'use strict'
// Filters on the index of sessions.
{
	const bar = /** @type {HTMLDetailsElement} */ (document.getElementById('filters'))
	const selects = [...bar.querySelectorAll('select')], cells = document.querySelectorAll('.cells li')
	const all = /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll('[data-f]'))
	const filter = () => {
		const wanted = selects.map(s => s.value).filter(Boolean)
		for (const el of all) {
			const has = /** @type {string} */ (el.dataset.f).split(' ')
			el.hidden = !wanted.every(w => has.includes(w))
		}
		const shown = [...cells].filter(c => !(/** @type {HTMLElement} */ (c).hidden)).length
		const found = /** @type {HTMLElement} */ (bar.querySelector('.found'))
		found.textContent = wanted.length ? `${shown.toLocaleString('en')} of ${cells.length.toLocaleString('en')} sessions` : ''
	}
	for (const select of selects) {
		select.parentElement?.toggleAttribute('hidden', select.options.length < 2)
		select.addEventListener('change', filter)
	}
	bar.hidden = false
	bar.open = matchMedia('(min-width: 641px)').matches // else the sessions are first
	filter()
}
