/** A short sound of our own: two soft tones, made on the spot, so that there is no file to load. */

let audio: AudioContext | null = null
const TONES = [
    { hertz: 659.25, at: 0 },
    { hertz: 880, at: 0.11 },
]
const SECONDS = 0.45
const LOUDNESS = 0.12

/** Browsers let a page sound only after somebody touched it; before that nothing happens. */
export function playChime(): void {
    try {
        audio ??= new AudioContext()
        if (audio.state === 'suspended') void audio.resume()
        for (const tone of TONES) ring(audio, tone.hertz, audio.currentTime + tone.at)
    } catch {
        // No sound on this machine.
    }
}

function ring(context: AudioContext, hertz: number, at: number): void {
    const [tone, volume] = [context.createOscillator(), context.createGain()]
    tone.type = 'sine'
    tone.frequency.value = hertz
    volume.gain.setValueAtTime(0, at)
    volume.gain.linearRampToValueAtTime(LOUDNESS, at + 0.015)
    volume.gain.exponentialRampToValueAtTime(0.0001, at + SECONDS)
    tone.connect(volume).connect(context.destination)
    tone.start(at)
    tone.stop(at + SECONDS)
}
