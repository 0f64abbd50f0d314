import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { complaint, folder, load } from '../../test/app/load-configuration.ts';

describe('times that are part of others', () => {
  it('may be as long as those', () => {
    const toml =
      '[off_chain]\ntry_timeout_ms = 5000\n[das_pool]\ntry_timeout_ms = 15000\n[confirmations]\nwait_max_ms = 120000\n[uploads]\nupload_max_ms = 2400000\n[semi_wallets]\nremember_ms = 900000';
    expect(complaint(toml)).toBe('nothing');
  });
});

describe('a node of Kubo', () => {
  it('stands with the gateway to its files', () => {
    const { kubo, storage } = load(
      '[kubo]\nurl = "http://127.0.0.1:5001"\n[storage]\ngateway = "https://files.example/ipfs/"',
    );
    expect([kubo.url, storage.gateway]).toEqual(['http://127.0.0.1:5001', 'https://files.example/ipfs/']);
  });
});

describe('what would stop the start', () => {
  it.each(['10.0.0.0/99', '10.0.0/8', '::1/129', '1.2.3.4.5'])('is told of the sender %j', (entry) => {
    expect(complaint(`[shreds]\nudp_senders = ["10.0.0.0/8", "${entry}"]`)).toBe(
      `solway.toml: shreds.udp_senders[1]: "${entry}" must be an address or a network such as "203.0.113.7" or "10.0.0.0/8"`,
    );
  });

  it('is told of certificates that are not there', () => {
    writeFileSync(join(folder, 'key.pem'), '');
    const toml = `[grpc]\ntls_cert = "${folder}/none.pem"\ntls_key = "${folder}/key.pem"`;
    expect(complaint(toml)).toBe('solway.toml: grpc.tls_cert: none.pem does not exist: write where it is');
  });

  it('is told of an address that is missing', () => {
    expect(complaint('[shreds]\ndeshred = [{ name = "x" }]')).toBe(
      'solway.toml: shreds.deshred[0].url: is missing: write it as "https://host/path"',
    );
  });
});
