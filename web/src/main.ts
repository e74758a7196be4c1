/** The client begins here: styles that hold everywhere, then the application into the page. */
import { mount } from 'svelte'
import App from './App.svelte'

const target = document.getElementById('app')
if (target) mount(App, { target })
