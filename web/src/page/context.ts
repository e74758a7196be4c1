/** The world (everything the data layer knows) for every component below the application: `const world = getWorld()`. */
import { createContext } from 'svelte'
import type { World } from '../data/world.svelte'

export const [getWorld, setWorld] = createContext<World>()
