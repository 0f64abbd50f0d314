import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { complaint, folder, load } from '../../test/app/load-configuration.ts';
import { showConfiguration } from './render.ts';

describe('secrets in the configuration', () => {
  const SECRET = 'hunter2hunter2';

  it('may stand in the environment or in a file', () => {
    writeFileSync(join(folder, 'token'), `${SECRET}\n`);
    const toml =
      '[[upstream]]\nurl = "env:NODE"\nheaders = { Authorization = "file:token" }\n[store]\ndatabase_url = "env:DB"';
    const environment = { NODE: `https://a/${SECRET}`, DB: `postgres://u:${SECRET}@h/d` };
    const { upstreams, store } = load(toml, [], environment);
    expect(upstreams[0]).toMatchObject({ url: `https://a/${SECRET}`, headers: { Authorization: SECRET } });
    expect(store.databaseUrl).toBe(environment.DB);
  });

  it('are told as missing when their file is empty or not there', () => {
    writeFileSync(join(folder, 'empty'), '\n');
    const line = (reference: string) => complaint(`[[upstream]]\nurl = "${reference}"`);
    expect(line('file:empty')).toBe('solway.toml: upstream[0].url: "file:empty" is empty');
    expect(line('file:none')).toContain('"file:none" cannot be read: put the value into');
  });

  it.each([
    `https://${SECRET}@h.example/`,
    `https://u:${SECRET}@h.example`,
    `https://h.example/${SECRET}/`,
    `https://h.example/?api-key=${SECRET}`,
  ])('are not shown of a node at %s', (url) => {
    const database = `postgres://u:${SECRET}@h/d?password=${SECRET}`;
    const node = `[[upstream]]\nurl = "${url}"\nheaders = { x = "${SECRET}" }\n`;
    const toml = `${node}[store]\ndatabase_url = "${database}"`;
    const shown = JSON.stringify(showConfiguration(load(toml)));
    expect(shown).toContain('h.example');
    expect(shown).not.toContain(SECRET);
  });

  it.each([
    `[[upstream]]\nurl = "htps://u:${SECRET}@h/${SECRET}?x=${SECRET}"`,
    `[[upstream]]\nurl = "https://h.example#${SECRET}"`,
    `[[upstream]]\nurl = "https://u:${SECRET}#@h.example"`,
    `[[upstream]]\nurl = "${SECRET}"`,
    `[[upstream]]\nurl = "//${SECRET}"`,
    `[[upstream]]\nurl = ["${SECRET}"]`,
    `[[upstream]]\nurl = "https://a"\nname = "https://a/${SECRET}"`,
    `[[upstream]]\nurl = "https://a"\nheaders = { x = "${SECRET}\\n" }`,
    `[[upstream]]\nurl = "https://a/${SECRET}" nonsense`,
    `[store]\ndatabase_url = "postgre://u:${SECRET}@h/d"`,
    `[log]\nlevel = "svc_rpc_live_${SECRET}"`,
  ])('are not shown in the error of %j', (toml) => {
    expect(complaint(toml)).toMatch(/^solway\.toml: /);
    expect(complaint(toml)).not.toContain(SECRET);
  });
});
