import { describe, expect, it } from 'vitest';
import { type NodeMessage, readNodeMessage } from './pubsub-message.ts';

const read = (text: string): NodeMessage | null => readNodeMessage(Buffer.from(text));

const shown = (message: NodeMessage | null): unknown => {
  if (message === null) return null;
  return message.kind === 'notification'
    ? { id: message.id, result: message.result.toString() }
    : { id: message.id, body: message.body.toString(), errorCode: message.errorCode };
};

describe('readNodeMessage', () => {
  it.each([
    [
      'in Agave’s order',
      '{"jsonrpc":"2.0","method":"aNotification","params":{"result":RESULT,"subscription":ID}}',
    ],
    [
      'in another order',
      '{"params":{"subscription":ID,"result":RESULT},"method":"aNotification","jsonrpc":"2.0"}',
    ],
    [
      'with space',
      ' {"jsonrpc":"2.0","method":"a","params" : { "result" : RESULT , "subscription" : ID } } \n',
    ],
  ])('reads a notification %s', (_, form) => {
    for (const result of ['null', '18446744073709551615', '{ "a":[1.0,"\\u0041}"] }']) {
      const text = form.replace('RESULT', () => result);
      expect(shown(read(text.replace('ID', '12')))).toEqual({ id: 12, result });
      const long = '18446744073709551615';
      expect(shown(read(text.replace('ID', long)))).toEqual({ id: long, result });
      expect(shown(read(text.replace('ID', '"abc"')))).toEqual({ id: '"abc"', result });
    }
  });

  it('reads a response to a request', () => {
    expect(shown(read('{"jsonrpc":"2.0","result":23784,"id":5}'))).toEqual({
      id: 5,
      body: '23784',
      errorCode: 0,
    });
    expect(shown(read('{"id":5,"error":{"code":-32601,"message":"no"},"jsonrpc":"2.0"}'))).toEqual({
      id: 5,
      body: '{"code":-32601,"message":"no"}',
      errorCode: -32601,
    });
    expect(shown(read('{"id":5,"error":null,"result":1}'))).toEqual({ id: 5, body: '1', errorCode: 0 });
  });

  it.each([
    '',
    'null',
    '[]',
    '{}',
    '{"id":null,"error":{"code":-32700,"message":"Parse error"}}',
    '{"id":"7","result":1}',
    '{"id":7}',
    '{"id":7,"error":{"code":0}}',
    '{"jsonrpc":"2.0","method":"a","params":{"result":1}}',
    '{"jsonrpc":"2.0","method":"a","params":{"subscription":1}}',
    '{"jsonrpc":"2.0","method":"a","params":{"result":1,"subscription":1}',
    '{"jsonrpc":"2.0","method":"a","params":{"result":1,"subscription":1}}}',
    '{"jsonrpc":"2.0","method":"a","params":{"result":,"subscription":1}}',
  ])('rejects %s', (text) => {
    expect(read(text)).toBeNull();
  });
});
