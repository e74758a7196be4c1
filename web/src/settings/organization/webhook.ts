/** The address at which another service posts for a bot (pure). */

export interface Webhook {
    service: string
    key: string
    /** Without one the bot's owner is told directly. */
    channel?: string
    /** Without one the service's own words are the topic. */
    topic?: string
    events?: readonly string[]
}

export function webhookAddress(base: string, { service, key, channel, topic, events = [] }: Webhook): string {
    const query = new URLSearchParams({ api_key: key })
    if (channel) query.set('stream', channel)
    if (channel && topic) query.set('topic', topic)
    if (events.length) query.set('only_events', JSON.stringify(events))
    return `${base.replace(/\/$/, '')}/api/v1/external/${encodeURIComponent(service)}?${query.toString()}`
}
