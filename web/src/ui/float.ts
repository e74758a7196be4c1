/** Where a floating thing goes (pure): beside its anchor, inside the window. */

export interface Box {
    left: number
    top: number
    width: number
    height: number
}

export type Side = 'below' | 'above' | 'end' | 'start'

const GAP = 6
const EDGE = 8

/** The place of `size` beside `anchor`; it goes to the other side where there is no room. `align` is along the edge. */
export function placeBeside(
    anchor: Box,
    size: { width: number; height: number },
    room: { width: number; height: number },
    side: Side,
    align: 'start' | 'center' | 'end' = 'start',
): { left: number; top: number } {
    const vertical = side === 'below' || side === 'above'
    const along = vertical ? 'width' : 'height'
    const from = vertical ? anchor.left : anchor.top
    const shift = { start: 0, center: (anchor[along] - size[along]) / 2, end: anchor[along] - size[along] }[align]
    const before = (vertical ? anchor.top - size.height : anchor.left - size.width) - GAP
    const after = (vertical ? anchor.top + anchor.height : anchor.left + anchor.width) + GAP
    const limit = (vertical ? room.height - size.height : room.width - size.width) - EDGE
    const first = side === 'below' || side === 'end' ? after : before
    const other = first === after ? before : after
    const fits = (at: number) => at >= EDGE && at <= limit
    const across = fits(first) || !fits(other) ? Math.max(EDGE, Math.min(first, limit)) : other
    const clamped = Math.max(EDGE, Math.min(from + shift, room[along] - size[along] - EDGE))
    return vertical ? { left: clamped, top: across } : { left: across, top: clamped }
}
