/** A poll or a to-do list as the text that opens it (pure): a command with a heading, and a line for each option or task. */

export type WidgetKind = 'poll' | 'todo'

export interface WidgetDraft {
    heading: string
    lines: string[]
}

/** What was written already: a text that begins one is gone on with, and any other is its heading and lines. */
export function draftOf(text: string): WidgetDraft {
    const [first = '', ...rest] = text.trim().split('\n')
    return {
        heading: first.replace(/^\/(poll|todo)\b/, '').trim(),
        lines: rest.map((line) => line.replace(/^\s*[-*]?\s*/, '').trim()).filter(Boolean),
    }
}

export function widgetText(kind: WidgetKind, { heading, lines }: WidgetDraft): string {
    const given = lines.map((line) => line.trim()).filter(Boolean)
    return [`/${kind} ${heading.trim()}`.trimEnd(), ...given].join('\n')
}
