import { describe, expect, it } from 'vitest';
import { Failure } from '../protocol/errors.ts';
import type { ResponseReader, StreamedResponse } from '../protocol/streamed-response.ts';
import { MeteredResponse } from './pipeline.ts';

const reader: ResponseReader = { onData: () => {}, onEnd: () => {}, onError: () => {} };

/** Streamed response that runs a script when it is read, and the ends that its meter saw. */
function metered(script: (to: ResponseReader) => void): { response: MeteredResponse; ends: unknown[] } {
  const ends: unknown[] = [];
  const source: StreamedResponse = {
    bytes: 5,
    pipeTo: script,
    pause: () => {},
    resume: () => {},
    cancel: () => {},
  };
  const onStreamEnd = (bytesOut: number, failure: Failure | null): unknown =>
    ends.push([bytesOut, failure?.code ?? null]);
  return { response: new MeteredResponse(source, { onStreamEnd }), ends };
}

describe('metered response', () => {
  it('reports the bytes sent when it is aborted or canceled', () => {
    const broken = metered((to) => {
      to.onData(Buffer.from('123'));
      to.onError(new Failure('UPSTREAM_TIMEOUT'));
    });
    broken.response.pipeTo(reader);
    expect(broken.ends).toEqual([[3, 'UPSTREAM_TIMEOUT']]);
    const canceled = metered((to) => to.onData(Buffer.from('12')));
    canceled.response.pipeTo(reader);
    canceled.response.cancel();
    canceled.response.cancel();
    expect(canceled.ends).toEqual([[2, 'CLIENT_GONE']]);
  });
});
