import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What a careful operator writes to put keys in front of a node with nginx: a map, keep-alive, no access log. */
export function writeNginxConfig(
  dir: string,
  port: number,
  upstreamPort: number,
  keys: readonly string[],
): string {
  mkdirSync(join(dir, 'temp'), { recursive: true });
  const file = join(dir, 'nginx.conf');
  writeFileSync(
    file,
    `daemon off;
worker_processes 1;
pid ${dir}/nginx.pid;
error_log stderr crit;
events { worker_connections 4096; }
http {
  access_log off;
  client_body_temp_path ${dir}/temp; proxy_temp_path ${dir}/temp; fastcgi_temp_path ${dir}/temp;
  uwsgi_temp_path ${dir}/temp; scgi_temp_path ${dir}/temp;
  map_hash_bucket_size 128;
  map $http_authorization $known {
    default 0;
${keys.map((key) => `    "Bearer ${key}" 1;`).join('\n')}
  }
  upstream node { server 127.0.0.1:${upstreamPort}; keepalive 128; }
  server {
    listen 127.0.0.1:${port};
    keepalive_requests 10000000;
    location /v1/rpc {
      if ($known = 0) { return 403; }
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Authorization "";
      proxy_pass http://node;
    }
  }
}
`,
  );
  return file;
}
