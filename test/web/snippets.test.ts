import { describe, expect, it } from 'vitest';
import { requestSnippets } from '../../web/src/request-snippets.ts';
import { snippetsFor } from '../../web/src/snippets.ts';

const urls = { http: 'http://127.0.0.1:8080', ws: 'ws://127.0.0.1:8080', grpc: 'http://127.0.0.1:50051' };
const rustOf = (product: 'grpc' | 'fs', grpc = urls.grpc): string =>
  snippetsFor(product, { ...urls, grpc }, 'svc_key').find(({ id }) => id === 'rust')?.text ?? '';

describe('the request of the playground as code', () => {
  it('keeps quotes and integers, in the syntax of each language', () => {
    const params = `["it's", {"x": true, "y": null, "slot": 18446744073709551615}]`;
    const snippets = requestSnippets(urls, 'KEY', { isValid: true, kind: 'rpc', method: 'getX', params });
    const text = (id: string): string | undefined => snippets.find((one) => one.id === id)?.text;
    expect(text('curl')).toContain(`["it'\\''s", {"x": true, "y": null, "slot": 18446744073709551615}]`);
    expect(text('python')).toContain(`["it's", {"x": True, "y": None, "slot": 18446744073709551615}]`);
    expect(text('go')).toContain(`"params":${params}`);
    expect(text('rust')).toContain(`json!(${params})`);
  });
});

describe('the Rust snippet', () => {
  it.each([
    ['grpc', 'subscribe_with_request', 'SubscribeRequest {\n        slots:'],
    ['fs', 'subscribe_deshred_with_request', 'SubscribeDeshredRequest {\n        deshred_transactions:'],
  ] as const)('for %s is a complete program with a request', (product, call, request) => {
    const text = rustOf(product);
    expect(text).toContain('#[tokio::main]');
    expect(text).toContain(`let request = ${request}`);
    expect(text).toContain(`let (_sink, mut stream) = client.${call}(Some(request)).await?;`);
  });

  it('uses TLS only if the service does', () => {
    expect(rustOf('grpc', 'https://solway.example.com:50051')).toContain('.tls_config(');
    expect(rustOf('grpc')).not.toContain('Tls');
  });
});
