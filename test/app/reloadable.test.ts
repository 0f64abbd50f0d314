import { expect, it } from 'vitest';
import type { Configuration } from '../../src/config/configuration.ts';
import { changesBetween, isSection, LiveConfiguration } from '../../src/config/live-configuration.ts';
import { singleOptions } from '../../src/config/schema.ts';
import { load } from './load-configuration.ts';

/** The same with another value of every option. */
function otherwise(configuration: Configuration): Configuration {
  const another = (value: unknown): unknown =>
    isSection(value)
      ? Object.fromEntries(Object.entries(value).map(([name, one]) => [name, [one, 'another']]))
      : [value, 'another'];
  const sections = Object.entries(configuration).map(([name, value]) => [name, another(value)]);
  return Object.fromEntries(sections) as Configuration;
}

it('reports every option as changed or as needing a restart, and no fixed limit', () => {
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

it('shows a new configuration to the holders of its sections at once', () => {
  const before = load('[request_log]\nper_second = 1\n[rest]\ntimeout_ms = 130000\n');
  const live = new LiveConfiguration(before);
  const { requestLog, rest } = live.view;
  const seen: unknown[] = [];
  live.follow(() => seen.push([requestLog.perSecond, rest.timeoutMs, live.view.plans.length]));
  live.replace(load('[request_log]\nper_second = 2\n[rest]\ntimeout_ms = 140000\n[plans.more]\n'));
  expect(seen).toEqual([[2, 140_000, before.plans.length + 1]]);
  expect(before.requestLog.perSecond).toBe(1);
});
