import { describe, expect, it } from 'vitest';
import { Failure } from '../protocol/errors.ts';
import type { LongAnswer, LongReader } from '../protocol/long-answer.ts';
import { MeteredLong } from './metered-long.ts';

const reader: LongReader = { piece: () => {}, ended: () => {}, failed: () => {} };

/** A long answer that does what the script says when it is read, and what its meter heard. */
function metered(script: (to: LongReader) => void): { answer: MeteredLong; heard: unknown[] } {
  const heard: unknown[] = [];
  const answer: LongAnswer = {
    bytes: 5,
    readInto: script,
    pause: () => {},
    resume: () => {},
    leave: () => {},
  };
  const longEnded = (bytesOut: number, failure: Failure | null): unknown =>
    heard.push([bytesOut, failure?.code ?? null]);
  return { answer: new MeteredLong(answer, { longEnded }), heard };
}

describe('a long answer', () => {
  it('is counted with all its bytes when it is whole', () => {
    const { answer, heard } = metered((to) => {
      to.piece(Buffer.from('123'));
      to.piece(Buffer.from('4'));
      expect(heard).toEqual([]);
      to.ended(Buffer.from('5'));
    });
    answer.readInto(reader);
    answer.leave();
    expect(heard).toEqual([[5, null]]);
  });

  it('is counted with what went out when it breaks off, or whoever reads it leaves', () => {
    const broken = metered((to) => {
      to.piece(Buffer.from('123'));
      to.failed(new Failure('UPSTREAM_TIMEOUT'));
    });
    broken.answer.readInto(reader);
    expect(broken.heard).toEqual([[3, 'UPSTREAM_TIMEOUT']]);
    const left = metered((to) => to.piece(Buffer.from('12')));
    left.answer.readInto(reader);
    left.answer.leave();
    left.answer.leave();
    expect(left.heard).toEqual([[2, 'CLIENT_GONE']]);
  });
});
