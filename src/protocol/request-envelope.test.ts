import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Failure } from './errors.ts';
import { methods } from './methods.ts';
import { decodeEnvelope, type EnvelopeItem, envelopeLimits, methodNameAt } from './request-envelope.ts';

const decode = (text: string) => decodeEnvelope(Buffer.from(text));
const one = (text: string): EnvelopeItem => {
  const { batch, items } = decode(text);
  expect([batch, items.length]).toEqual([false, 1]);
  return items[0] as EnvelopeItem;
};
const show = (item: EnvelopeItem): string => {
  switch (item.kind) {
    case 'notification':
      return 'notification';
    case 'fault':
      return `${item.code} for ${item.id}`;
    case 'call':
      return `${item.method}(${item.params ?? ''}) for ${item.id}`;
  }
};
const codeOf = (decodes: () => unknown): string => {
  try {
    decodes();
  } catch (thrown) {
    if (thrown instanceof Failure) return thrown.code;
    throw thrown;
  }
  return 'no failure';
};

describe('decodeEnvelope', () => {
  it.each([
    ['{"jsonrpc":"2.0","id":1,"method":"getHealth"}', 'getHealth() for 1'],
    ['{"jsonrpc":"2.0","id":1,"method":"getHealth","params":null}', 'getHealth() for 1'],
    [
      '\n{ "params" : [1, 2] , "method" : "getSlot" , "id" : null , "jsonrpc" : "2.0" }\t',
      'getSlot([1, 2]) for null',
    ],
    ['{"jsonrpc":"2.0","id":"a\\"b","method":"getSlot"}', 'getSlot() for "a\\"b"'],
    ['{"jsonrpc":"2.0","id":9007199254740993,"method":"x"}', 'x() for 9007199254740993'],
    [
      '{"jsonrpc":"2.0","id":1,"method":"getBlock","params":[18446744073709551615]}',
      'getBlock([18446744073709551615]) for 1',
    ],
    ['{"\\u006asonrpc":"2\\u002e0","\\u0069d":1,"method":"get\\u0053lot"}', 'getSlot() for 1'],
    [
      '{"jsonrpc":"2.0","id":1,"method":"__proto__","params":[{"__proto__":{"a":1}}]}',
      '__proto__([{"__proto__":{"a":1}}]) for 1',
    ],
  ])('decodes the call %s', (text, expected) => {
    expect(show(one(text))).toBe(expected);
  });

  it.each([
    ['{"jsonrpc":"2.0","method":"sendTransaction","params":["x"]}', 'notification'],
    ['{"id":7,"method":"getHealth"}', 'UNSUPPORTED_VERSION for 7'],
    ['{"jsonrpc":"1.0","id":7,"method":"getHealth"}', 'INVALID_REQUEST for 7'],
    ['{"jsonrpc":"2.0","id":7,"method":"getHealth","extra":1}', 'INVALID_REQUEST for 7'],
    ['{"jsonrpc":"2.0","id":7,"method":"getHealth","__proto__":{}}', 'INVALID_REQUEST for 7'],
    ['{"jsonrpc":"2.0","id":7,"method":5}', 'INVALID_REQUEST for 7'],
    ['{}', 'INVALID_REQUEST for null'],
    ['{"jsonrpc":"2.0","id":7,"method":"a","method":"b"}', 'INVALID_REQUEST for 7'],
    ['{"jsonrpc":"2.0","method":"a","\\u006dethod":"a"}', 'INVALID_REQUEST for null'],
    ['{"jsonrpc":"2.0","id":7,"method":"getHealth","params":5}', 'INVALID_REQUEST for 7'],
    ['{"jsonrpc":"2.0","id":7,"method":"getHealth","params":{}}', 'PARAMS_NOT_ARRAY for 7'],
    [
      `{"jsonrpc":"2.0","id":"${'x'.repeat(envelopeLimits.idMaxBytes)}","method":"a"}`,
      'INVALID_REQUEST for null',
    ],
  ])('decodes %s as %s', (text, expected) => {
    expect(show(one(text))).toBe(expected);
  });

  it.each(['-1', '1.5', '-0', '18446744073709551616', '9'.repeat(26), 'true', '{"a":1}'])(
    'rejects the whole body for the id %s',
    (id) => {
      expect(codeOf(() => decode(`{"jsonrpc":"2.0","id":${id},"method":"getHealth"}`))).toBe('PARSE_ERROR');
      const good = '{"jsonrpc":"2.0","id":1,"method":"getHealth"}';
      expect(codeOf(() => decode(`[${good},{"jsonrpc":"2.0","id":${id},"method":"x"}]`))).toBe('PARSE_ERROR');
    },
  );

  it.each([
    '',
    '5',
    'null',
    '{"a":1}}',
    '{"id":1}x',
    '{"jsonrpc":"2.0","id":1,"id":1,"method":"a"}',
    '[[]]',
    '[{"jsonrpc":"2.0","id":1,"method":"a"},"b"]',
  ])('rejects the body %j', (text) => {
    expect(codeOf(() => decode(text))).toBe('PARSE_ERROR');
  });

  it('requires UTF-8', () => {
    const body = Buffer.from('{"jsonrpc":"2.0","id":"\xff","method":"a"}', 'latin1');
    expect(codeOf(() => decodeEnvelope(body))).toBe('PARSE_ERROR');
  });

  it('limits the nesting depth', () => {
    const nested = (depth: number) =>
      `{"jsonrpc":"2.0","id":1,"method":"a","params":${'['.repeat(depth)}${']'.repeat(depth)}}`;
    expect(show(one(nested(envelopeLimits.depthMax - 1)))).toMatch(/^a\(\[+\]+\) for 1$/);
    expect(codeOf(() => decode(nested(envelopeLimits.depthMax)))).toBe('PARSE_ERROR');
    expect(codeOf(() => decode('['.repeat(1_000_000)))).toBe('PARSE_ERROR');
  });
});

describe('batches', () => {
  it('decodes members in order, each on its own', () => {
    const call = '{"jsonrpc":"2.0","id":1,"method":"getSlot","params":[]}';
    const { batch, items } = decode(
      ` [ ${call} , {"jsonrpc":"2.0","method":"n"}, {"id":3,"method":"x"}, {"foo":1} ] `,
    );
    expect(batch).toBe(true);
    expect(items.map(show)).toEqual([
      'getSlot([]) for 1',
      'notification',
      'UNSUPPORTED_VERSION for 3',
      'INVALID_REQUEST for null',
    ]);
    expect(items[0]).toMatchObject({ bytes: call.length });
  });

  it('may be empty', () => {
    expect(decode('[]')).toEqual({ batch: true, items: [], bytes: 2 });
  });

  it('are limited in size', () => {
    const many = (count: number) => `[${Array(count).fill('{}').join(',')}]`;
    expect(decode(many(envelopeLimits.batchMax)).items).toHaveLength(envelopeLimits.batchMax);
    expect(codeOf(() => decode(many(envelopeLimits.batchMax + 1)))).toBe('BATCH_TOO_LARGE');
  });
});

it('random bodies keep every id, method and params', () => {
  const id = fc.oneof(
    fc.constant('null'),
    fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map(String),
    fc.string({ maxLength: 50 }).map((text) => JSON.stringify(text)),
  );
  const params = fc.array(fc.jsonValue({ maxDepth: 3 })).map((value) => JSON.stringify(value));
  fc.assert(
    fc.property(id, fc.string({ unit: 'binary' }), params, (rawId, method, rawParams) => {
      fc.pre(method.isWellFormed());
      const item = one(
        `{"jsonrpc":"2.0","id":${rawId},"method":${JSON.stringify(method)},"params":${rawParams}}`,
      );
      expect(item.kind === 'call' && [String(item.id), item.method, String(item.params)]).toEqual([
        rawId,
        method,
        rawParams,
      ]);
    }),
  );
});

const at = (text: string): string | null => {
  const bytes = Buffer.from(`"${text}"`);
  return methodNameAt(bytes, 1, bytes.length - 1);
};

describe('methodNameAt', () => {
  it('finds every method of the table', () => {
    for (const name of Object.keys(methods)) expect(at(name)).toBe(name);
  });

  it.each(['', 'getSlo', 'getSlots', 'constructor', 'gétSlo', 'x'.repeat(200)])(
    'returns null for %j',
    (text) => {
      expect(at(text)).toBeNull();
    },
  );
});
