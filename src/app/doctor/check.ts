import { problemText } from '../problem-text.ts';

/** One thing the doctor looked at. */
export type Finding = Readonly<{
  subject: string;
  verdict: 'good' | 'warning' | 'bad';
  /** Finding; with a remedy unless the verdict is good. */
  text: string;
}>;

/** A check that throws is bad, with the text of the error. */
export async function runCheck(subject: string, check: () => string | Promise<string>): Promise<Finding> {
  try {
    return { subject, verdict: 'good', text: await check() };
  } catch (error) {
    return { subject, verdict: 'bad', text: problemText(error) };
  }
}
