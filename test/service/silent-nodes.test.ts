import { afterAll, beforeAll, expect, it } from 'vitest';
import { deadUrl, healthy } from '../upstream/mock/behaviors.ts';
import { type MockNode, startMock } from '../upstream/mock/server.ts';
import { startProgram, temporaryFolder } from './program.ts';
import { writeConfiguration } from './start-service.ts';

/** Warnings in the log at startup. */
const SECRET = 'a-provider-key-that-nobody-reads';

let node: MockNode;
beforeAll(async () => {
  node = await startMock(healthy());
});
afterAll(() => node.close());

it.each(['1', '2'])(
  'a start with %s workers warns once of silent nodes and of a password over http, and continues',
  async (workers) => {
    const silent = `${await deadUrl()}/${SECRET}`;
    const nodes = [
      ['answers', node.url],
      ['is-dead', silent],
    ];
    const store = `[store]\nclickhouse_url = "http://solway:${SECRET}@clickhouse.invalid/"\n`;
    const text = nodes.map(([name, url]) => `[[upstream]]\nname = "${name}"\nurl = "${url}"\nws = "off"\n`);
    const config = writeConfiguration(`[grpc]\nenabled = false\n${store}${text.join('')}`);
    const options = ['--port', '0', '--data-dir', temporaryFolder('silent'), '--config', config];
    const program = startProgram(['up', ...options, '--workers', workers, '--log-level', 'warn']);
    await program.said(/Stop with Ctrl\+C/, 120_000);
    expect(program.stdout()).toContain('Upstream: answers, is-dead\n  NOT RESPONDING: is-dead.');
    const lines = program.stderr().match(/.*Some nodes did not respond at startup.*/g) ?? [];
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain('is-dead');
    expect(lines[0]).not.toContain('"answers"');
    expect(program.stderr().match(/store\.clickhouse_url: the password/g)).toHaveLength(1);
    expect(program.output()).not.toContain(SECRET);
    expect(await program.stop()).toBe(0);
  },
  150_000,
);
