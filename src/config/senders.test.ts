import { describe, expect, it } from 'vitest';
import { complaint, load } from '../../test/app/load-configuration.ts';
import { showConfiguration } from './render.ts';

const node = '[[upstream]]\nurl = "http://node.example"\nname = "a"\nnetwork = "devnet"\n';

describe('endpoints for sending', () => {
  it('have a name and a network without being given one', () => {
    const { senders } = load(
      `${node}[[sender]]\nurl = "https://one.example"\n[[sender]]\nurl = "https://two.example"\nnetwork = "testnet"`,
    );
    expect(senders).toEqual([
      { name: 'sender-1', network: 'devnet', url: 'https://one.example', headers: {} },
      { name: 'sender-2', network: 'testnet', url: 'https://two.example', headers: {} },
    ]);
  });

  it('keep their secrets, which may stand elsewhere', () => {
    const configuration = load(
      `${node}[[sender]]\nurl = "env:SENDER"\nheaders = { "x-token" = "env:TOKEN" }`,
      [],
      { SENDER: 'https://one.example/KEY-IN-PATH', TOKEN: 'KEY-IN-HEADER' },
    );
    expect(configuration.senders[0]).toMatchObject({ headers: { 'x-token': 'KEY-IN-HEADER' } });
    const shown = JSON.stringify(showConfiguration(configuration));
    expect(shown).toContain('one.example');
    expect(shown).not.toContain('KEY-IN');
  });

  it('have names that no node has, for attempts are told by them', () => {
    const url = 'url = "https://one.example"';
    expect(complaint(`${node}[[sender]]\n${url}\nname = "a"`)).toContain(
      'sender[0].name: "a" is also the name of an [[upstream]]',
    );
    expect(complaint(`${node}[[sender]]\n${url}\nname = "b"\n[[sender]]\n${url}\nname = "b"`)).toContain(
      'sender[1].name: "b" is also the name of another [[sender]]',
    );
  });
});
