/** Whether an organization goes by its address, because nobody has given it a name yet. */
export const goesByAddress = (name: string): boolean => name === location.host || name === location.hostname
