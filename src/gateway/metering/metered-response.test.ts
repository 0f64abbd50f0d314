import { describe, expect, it } from 'vitest';
import { Failure } from '../../protocol/errors.ts';
import type { ResponseReader, StreamedResponse } from '../../protocol/streamed-response.ts';
import { MeteredResponse } from './metered-response.ts';

const reader: ResponseReader = { onData: () => {}, onEnd: () => {}, onError: () => {} };

/** A long answer that does what the script says when it is read, and what its meter heard. */
function metered(script: (to: ResponseReader) => void): { answer: MeteredResponse; heard: unknown[] } {
  const heard: unknown[] = [];
  const answer: StreamedResponse = {
    bytes: 5,
    pipeTo: script,
    pause: () => {},
    resume: () => {},
    cancel: () => {},
  };
  const longEnded = (bytesOut: number, failure: Failure | null): unknown =>
    heard.push([bytesOut, failure?.code ?? null]);
  return { answer: new MeteredResponse(answer, { onStreamEnd: longEnded }), heard };
}

describe('a long answer', () => {
  it('is counted with all its bytes when it is whole', () => {
    const { answer, heard } = metered((to) => {
      to.onData(Buffer.from('123'));
      to.onData(Buffer.from('4'));
      expect(heard).toEqual([]);
      to.onEnd(Buffer.from('5'));
    });
    answer.pipeTo(reader);
    answer.cancel();
    expect(heard).toEqual([[5, null]]);
  });

  it('is counted with what went out when it breaks off, or whoever reads it leaves', () => {
    const broken = metered((to) => {
      to.onData(Buffer.from('123'));
      to.onError(new Failure('UPSTREAM_TIMEOUT'));
    });
    broken.answer.pipeTo(reader);
    expect(broken.heard).toEqual([[3, 'UPSTREAM_TIMEOUT']]);
    const left = metered((to) => to.onData(Buffer.from('12')));
    left.answer.pipeTo(reader);
    left.answer.cancel();
    left.answer.cancel();
    expect(left.heard).toEqual([[2, 'CLIENT_GONE']]);
  });
});
