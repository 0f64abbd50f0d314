import { expect, it } from 'vitest';
import type { Configuration } from '../../src/config/configuration.ts';
import { changesBetween } from '../../src/config/live-configuration.ts';
import { singleOptions } from '../../src/config/schema.ts';
import { isTable } from '../../src/config/table.ts';
import { load } from './load-configuration.ts';

function otherwise(configuration: Configuration): Configuration {
  const another = (value: unknown): unknown =>
    isTable(value)
      ? Object.fromEntries(Object.entries(value).map(([name, one]) => [name, [one, 'another']]))
      : [value, 'another'];
  const sections = Object.entries(configuration).map(([name, value]) => [name, another(value)]);
  return Object.fromEntries(sections) as Configuration;
}

it('reload reports every option as changed or as needing a restart, and no fixed limit', () => {
  const before = load('');
  const after = { ...otherwise(before), upstreams: [{ name: 'x' }] } as unknown as Configuration;
  const { changed, restart, configuration } = changesBetween(before, after);
  const lists = ['upstream', 'sender', 'das', 'plans', 'file'];
  expect([...changed, ...restart].sort()).toEqual([...singleOptions.keys(), ...lists].sort());
  expect(configuration.server).toMatchObject({ port: 8080, trustedProxies: [[], 'another'] });
  expect(configuration.feeds.seenMax).toBe(before.feeds.seenMax);
  expect(restart).toContain('server.port');
  expect(changed).toContain('server.trusted_proxies');
  for (const [name, { reload }] of singleOptions) if (!reload) expect(restart).toContain(name);
});
