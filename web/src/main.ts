/** The client begins here: styles that hold everywhere, then the application into the page. */
import { mount } from 'svelte'
import App from './App.svelte'
import './ui/base.css'
import { listenForEscape } from './ui/escape'
import { listenForKeys } from './ui/keys.svelte'

listenForEscape(window)
listenForKeys(window)

const target = document.getElementById('app')
if (target) mount(App, { target })
