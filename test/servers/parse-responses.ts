export type HttpResponse = { status: number; fields: Record<string, string>; body: string };

/** Parses the responses on a connection; omits dates and lower-cases header names. @throws Error if invalid. */
export function parseResponses(received: string): HttpResponse[] {
  const answers: HttpResponse[] = [];
  for (let at = 0; at < received.length; ) {
    const headEnd = received.indexOf('\r\n\r\n', at);
    const [line = '', ...lines] = received.slice(at, headEnd).split('\r\n');
    const status = /^HTTP\/1\.1 (\d{3}) /.exec(line)?.[1];
    if (headEnd === -1 || status === undefined) throw new Error(`no answer: ${received.slice(at)}`);
    const fields = Object.fromEntries(
      lines.map((each) => [
        each.slice(0, each.indexOf(':')).toLowerCase(),
        each.slice(each.indexOf(':') + 2),
      ]),
    );
    delete fields.date;
    const bodyAt = headEnd + 4;
    const bodyEnd = bodyAt + Number(fields['content-length'] ?? 0);
    answers.push({ status: Number(status), fields, body: received.slice(bodyAt, bodyEnd) });
    at = bodyEnd;
  }
  return answers;
}
