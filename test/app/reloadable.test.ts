import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'smol-toml';
import { expect, it } from 'vitest';
import type { Configuration } from '../../src/config/configuration.ts';
import {
  changesBetween,
  isSection,
  LiveConfiguration,
  reloadable,
} from '../../src/config/live-configuration.ts';
import { load } from './load-configuration.ts';

const example = parse(
  readFileSync(join(import.meta.dirname, '../../config/solway.example.toml'), 'utf8').replace(
    /^# ?(?=[a-z_]+ = |\[)/gm,
    '',
  ),
);

/** The same with every field another. */
function otherwise(configuration: Configuration): Configuration {
  const another = (value: unknown): unknown =>
    isSection(value)
      ? Object.fromEntries(Object.entries(value).map(([name, one]) => [name, [one, 'another']]))
      : [value, 'another'];
  const sections = Object.entries(configuration).map(([name, value]) => [name, another(value)]);
  return Object.fromEntries(sections) as Configuration;
}

it('every field of the configuration either changes while the service runs or is named as needing a restart', () => {
  const before = load('');
  const after = {
    ...otherwise(before),
    upstreams: [{ name: 'x' }],
    localnet: before.localnet,
  } as unknown as Configuration;
  const { changed, restart, configuration } = changesBetween(before, after);
  const fields = Object.entries(before).flatMap(([section, value]) =>
    isSection(value) ? Object.keys(value).map((field) => [section, field]) : [[section]],
  );
  // All but those of [localnet], which were left as they are so that it can be said whether the ledger is wanted.
  const expected = fields.length - Object.keys(before.localnet).length;
  expect(new Set([...changed, ...restart]).size).toBe(expected);
  expect(Object.keys(reloadable).sort()).toEqual(Object.keys(before).sort());
  expect(configuration.server).toMatchObject({ port: 8080, trustedProxies: [[], 'another'] });
  expect(restart).toContain('server.port');
  expect(changed).toContain('server.trusted_proxies');
});

it('fields are called what the file calls them', () => {
  const { changed, restart } = changesBetween(load(''), otherwise(load('')));
  const names = [...changed, ...restart].filter(
    (name) => !['file', 'plans', 'upstream', 'sender'].includes(name),
  );
  const unknown = names.filter((name) => {
    const [section = '', field] = name.split('.');
    const table = (example as Record<string, unknown>)[section];
    return field === undefined ? table === undefined : !isSection(table) || !(field in table);
  });
  // Those that stand in comments of the example are looked at by the test of the example.
  expect(unknown.filter((name) => /[A-Z]/.test(name))).toEqual([]);
  expect(names.length).toBeGreaterThan(100);
});

it('parts that hold a section see what is in force, all of it from one moment on', () => {
  const before = load('[request_log]\nper_second = 1\n[rest]\ntimeout_ms = 130000\n');
  const live = new LiveConfiguration(before);
  const { requestLog, rest } = live.view;
  const seen: unknown[] = [];
  live.follow(() => seen.push([requestLog.perSecond, rest.timeoutMs, live.view.plans.length]));
  live.replace(load('[request_log]\nper_second = 2\n[rest]\ntimeout_ms = 140000\n[plans.more]\n'));
  expect(seen).toEqual([[2, 140_000, before.plans.length + 1]]);
  expect(before.requestLog.perSecond).toBe(1);
});
