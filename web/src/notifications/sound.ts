/** What is heard of a new message: a few soft tones, made on the spot, so that there is no file to load. */

let audio: AudioContext | null = null
interface Tone {
    hertz: number
    at: number
    seconds: number
}
/** By the names that the server has for them (people/preferences/choices.py). */
const SOUNDS: Record<string, readonly Tone[]> = {
    chime: [
        { hertz: 659.25, at: 0, seconds: 0.45 },
        { hertz: 880, at: 0.11, seconds: 0.45 },
    ],
    bell: [
        { hertz: 1046.5, at: 0, seconds: 1.1 },
        { hertz: 2093, at: 0, seconds: 0.5 },
    ],
    knock: [
        { hertz: 180, at: 0, seconds: 0.09 },
        { hertz: 180, at: 0.14, seconds: 0.09 },
    ],
}
const LOUDNESS = 0.12

export const tonesOf = (name: string): readonly Tone[] => SOUNDS[name] ?? []

/** Browsers let a page sound only after somebody touched it; before that nothing happens. */
export function playSound(name: string): void {
    try {
        audio ??= new AudioContext()
        if (audio.state === 'suspended') void audio.resume()
        for (const tone of tonesOf(name)) ring(audio, tone, audio.currentTime + tone.at)
    } catch {
        // No sound on this machine.
    }
}

function ring(context: AudioContext, { hertz, seconds }: Tone, at: number): void {
    const [tone, volume] = [context.createOscillator(), context.createGain()]
    tone.type = 'sine'
    tone.frequency.value = hertz
    volume.gain.setValueAtTime(0, at)
    volume.gain.linearRampToValueAtTime(LOUDNESS, at + 0.015)
    volume.gain.exponentialRampToValueAtTime(0.0001, at + seconds)
    tone.connect(volume).connect(context.destination)
    tone.start(at)
    tone.stop(at + seconds)
}
