/** English words of the settings: whatever shows settings imports this first, so that they are there before they are shown. */
import settings from './en/settings.json'
import { addEnglish } from './words.svelte'

addEnglish(settings)
