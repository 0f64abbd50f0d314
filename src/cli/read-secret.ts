import { UsageError } from './command.ts';

const INPUT_MAX_BYTES = 65_536;

/** The one word that the input holds, for what no history of commands is to keep. @throws UsageError */
export async function readSecret(input: AsyncIterable<Buffer | string>): Promise<string> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of input) {
    pieces.push(Buffer.from(piece));
    bytes += piece.length;
    if (bytes > INPUT_MAX_BYTES) throw new UsageError(`the input is longer than ${INPUT_MAX_BYTES} bytes`);
  }
  const text = Buffer.concat(pieces).toString('utf8').trim();
  if (text === '') throw new UsageError('the input is empty: echo "$KEY" | solway keys whose -');
  return text;
}
