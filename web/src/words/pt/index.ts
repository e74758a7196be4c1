/** The Portuguese catalogue, one chunk of its own. */
import join from './join.json'
import places from './places.json'
import settings from './settings.json'
import talk from './talk.json'
import ui from './ui.json'

export default { ...ui, ...join, ...talk, ...places, ...settings }
