/** Intl's formatters, each made once: to make one takes longer than to draw the row that needs it. */

function kept<Options, Format>(Format: new (locale: string, options: Options) => Format) {
    const known = new Map<string, Format>()
    return (locale: string, options: Options): Format => {
        const key = locale + JSON.stringify(options)
        const found = known.get(key) ?? new Format(locale, options)
        known.set(key, found)
        return found
    }
}

export const dateFormat = kept<Intl.DateTimeFormatOptions, Intl.DateTimeFormat>(Intl.DateTimeFormat)
export const relativeFormat = kept<Intl.RelativeTimeFormatOptions, Intl.RelativeTimeFormat>(Intl.RelativeTimeFormat)
export const listFormat = kept<Intl.ListFormatOptions, Intl.ListFormat>(Intl.ListFormat)
export const numberFormat = kept<Intl.NumberFormatOptions, Intl.NumberFormat>(Intl.NumberFormat)
