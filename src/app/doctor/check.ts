import { problemText } from '../problem-text.ts';

/** One thing the doctor looked at. */
export type Finding = Readonly<{
  subject: string;
  verdict: 'good' | 'warning' | 'bad';
  /** What was found; of what is not good, also what to do. */
  text: string;
}>;

/** What `work` finds is good; what it throws is bad, in words for the operator. */
export async function runCheck(subject: string, check: () => string | Promise<string>): Promise<Finding> {
  try {
    return { subject, verdict: 'good', text: await check() };
  } catch (error) {
    return { subject, verdict: 'bad', text: problemText(error) };
  }
}
