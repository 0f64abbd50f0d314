import { describe, expect, it } from 'vitest';
import { readTraceparent, TraceSampler } from './trace-context.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';

describe('a traceparent', () => {
  it('says whose trace and which span, and whether they are kept', () => {
    const read = { traceId: TRACE, parentId: PARENT };
    expect(readTraceparent(`00-${TRACE}-${PARENT}-01`)).toEqual({ ...read, sampled: true });
    expect(readTraceparent(`00-${TRACE}-${PARENT}-02`)).toEqual({ ...read, sampled: false });
  });

  it('of a later version may have more behind', () => {
    expect(readTraceparent(`cc-${TRACE}-${PARENT}-01-what-else`)).toMatchObject({ traceId: TRACE });
  });

  it.each([
    '',
    'x',
    `00-${TRACE}-${PARENT}`,
    `00-${TRACE}-${PARENT}-01-more`,
    `ff-${TRACE}-${PARENT}-01`,
    `00-${TRACE.toUpperCase()}-${PARENT}-01`,
    `00-${'0'.repeat(32)}-${PARENT}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `cc-${TRACE}-${PARENT}-01-${'x'.repeat(300)}`,
  ])('is none when it is %j', (header) => {
    expect(readTraceparent(header)).toBeNull();
  });
});

describe('the choice of traces', () => {
  const link = (share: number, header: string | null) => new TraceSampler(share).linkOf(header);

  it('continues the trace of a client that keeps it', () => {
    expect(link(1, `00-${TRACE}-${PARENT}-01`)).toEqual({ traceId: TRACE, parentId: PARENT });
    expect(link(1, `00-${TRACE}-${PARENT}-00`)).toBeNull();
  });

  it('begins one where there is none, or none that can be read', () => {
    for (const header of [null, 'nonsense']) {
      expect(link(1, header)).toEqual({ traceId: expect.stringMatching(/^[0-9a-f]{32}$/), parentId: null });
      expect(link(0, header)).toBeNull();
    }
  });

  it('takes the share of clients’ traces by their ids, the same everywhere', () => {
    const chosen = (share: number, end: string) =>
      link(share, `00-${TRACE.slice(0, 20)}${end}-${PARENT}-01`) !== null;
    expect([chosen(0.5, '7fffffffffff'), chosen(0.5, '800000000000'), chosen(0, '000000000000')]).toEqual([
      ...[true, false, false],
    ]);
  });
});
