/** The client begins here: styles that hold everywhere, then the application into the page. */
import { mount } from 'svelte'
import App from './App.svelte'
import { listenForInstall } from './notifications/install.svelte'
import './ui/base.css'
import { listenForEscape } from './ui/escape'
import { listenForKeys } from './ui/keys.svelte'

listenForEscape(window)
listenForKeys(window)
listenForInstall(window)

const target = document.getElementById('app')
if (target) mount(App, { target })
