/** The page for developers: every component of `src/ui` in every look. It is not part of what is built for users: `npm run gallery`
 *  shows it, and `e2e/gallery.spec.ts` has axe look at it.
 *
 *  `gallery.html` is the overview, with `?look=dark` of one look. `?of=Button&look=dark` is one sample, alone in a page of its
 *  own: what floats, asks or is there once has the room and the focus that it has in the application. */
import { mount, tick } from 'svelte'
import '../ui/base.css'
import Gallery from './Gallery.svelte'
import { dress, isLook, LOOKS } from './looks'
import Sample from './Sample.svelte'

const asked = new URLSearchParams(location.search)
const [of, wanted] = [asked.get('of'), asked.get('look')]
const target = document.getElementById('app')

if (target && of) {
    const look = isLook(wanted) ? wanted : 'light'
    mount(Sample, { target, props: { of, look } })
    await tick()
    dress(look)
    document.documentElement.dataset['ready'] = ''
} else if (target) mount(Gallery, { target, props: { looks: isLook(wanted) ? [wanted] : LOOKS } })
