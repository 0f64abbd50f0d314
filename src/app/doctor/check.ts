import { errorText } from '../error-text.ts';

export type Finding = Readonly<{
  subject: string;
  verdict: 'good' | 'warning' | 'bad';
  /** What was found. Includes a remedy unless the verdict is good. */
  text: string;
}>;

const finding =
  (verdict: Finding['verdict']) =>
  (subject: string, text: string): Finding => ({ subject, verdict, text });

export const good = finding('good');
export const warning = finding('warning');
export const bad = finding('bad');

export const probeFindings = (
  subject: string,
  findings: readonly Readonly<{ severity: string; finding: string; remedy: string }>[],
): Finding[] =>
  findings.map(({ severity, finding: found, remedy }) =>
    (severity === 'error' ? bad : warning)(subject, `${found} ${remedy}`),
  );

export async function runCheck(
  subject: string,
  check: () => string | Promise<string>,
  describe: (error: unknown) => string = errorText,
): Promise<Finding> {
  try {
    return good(subject, await check());
  } catch (error) {
    return bad(subject, describe(error));
  }
}
