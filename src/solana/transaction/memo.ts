import { utf8 } from '../codec.ts';
import type { Message } from '../message/message.ts';
import { programs } from '../programs.ts';

/** Same text as in getSignaturesForAddress: "[5] hello; [3] you". Source: agave transaction-status, `extract_memos`. */
export function memoOf(message: Message): string | null {
  const memos = message.instructions
    .filter(({ programIdIndex }) => {
      const program = message.accountKeys[programIdIndex];
      return program === programs.memoV1 || program === programs.memoV3;
    })
    .map(({ data }) => {
      try {
        return `[${data.length}] ${utf8(data)}`;
      } catch {
        return `[${data.length}] (unparseable)`;
      }
    });
  return memos.length === 0 ? null : memos.join('; ');
}
