import { expect, it } from 'vitest';
import { complaint, load } from '../../test/app/load-configuration.ts';

const environment = {
  REDIS: 'rediss://:geheim@redis.example:6379',
  SMTP: 'smtp://u:geheim@mail.example:587',
  TOKEN: 'geheim',
};

it('stand for secrets wherever the example says that they may', () => {
  const { accounts, cache, mail, metrics, pinning, shared, telemetry } = load(
    `[shared]
    redis_url = "env:REDIS"
    [cache]
    redis_url = "env:REDIS"
    [mail]
    smtp_url = "env:SMTP"
    from = "Solway <solway@example.com>"
    [metrics]
    token = "env:TOKEN"
    [pinning]
    url = "https://pins.example"
    token = "env:TOKEN"
    [telemetry]
    otlp_url = "https://otlp.example"
    headers = { "authorization" = "env:TOKEN" }
    [accounts]
    public_url = "https://solway.example"
    [[accounts.oidc]]
    id = "example"
    name = "Example"
    discovery_url = "https://id.example/.well-known/openid-configuration"
    client_id = "solway"
    client_secret = "env:TOKEN"`,
    [],
    environment,
  );
  expect([shared.redisUrl, cache.redisUrl, mail.smtpUrl]).toEqual([
    environment.REDIS,
    environment.REDIS,
    environment.SMTP,
  ]);
  expect([metrics.token, pinning.token, telemetry.headers.authorization]).toEqual(Array(3).fill('geheim'));
  expect(accounts.oidc[0]?.clientSecret).toBe('geheim');
});

it('are told by their fields where they lead nowhere', () => {
  const provider = 'id = "a"\nname = "A"\ndiscovery_url = "https://id.example"\nclient_id = "a"\n';
  expect(
    complaint(`[metrics]\ntoken = "env:NO"\n[[accounts.oidc]]\n${provider}client_secret = "file:none"`),
  ).toMatch(
    new RegExp(
      '^solway\\.toml: metrics\\.token: "env:NO" names .*\n' +
        'solway\\.toml: accounts\\.oidc\\[0\\]\\.client_secret: "file:none" cannot be read',
    ),
  );
});
