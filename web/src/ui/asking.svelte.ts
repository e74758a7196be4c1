/** The one way to ask before something that cannot be taken back, or that gives somebody more rights:
 *  `if (await ask({ title, text, confirm })) ...`. Nothing happens before the answer; closing the question says no.
 *  A question with fields of its own is a `Dialog` of its page. asked.test.ts lists every act, and which are asked about. */

export interface Question {
    /** What would happen, as a question. */
    title: string
    /** What it means. */
    text: string
    /** On the button that does it. */
    confirm: string
    /** What is lost or given away for good is asked about in red. */
    danger?: boolean
}

interface Asked extends Question {
    answer: (isYes: boolean) => void
}

let question = $state.raw<Asked | null>(null)

export const asked = (): Asked | null => question

export function ask(wanted: Question): Promise<boolean> {
    question?.answer(false)
    return new Promise((resolve) => {
        const mine: Asked = {
            ...wanted,
            answer: (isYes) => {
                if (question === mine) question = null
                resolve(isYes)
            },
        }
        question = mine
    })
}
