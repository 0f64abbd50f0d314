/** Shown before the first build of the dashboard. */
export const notBuiltPage = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Solway: dashboard not built</title>
</head>
<body>
<main>
<h1>The dashboard has not been built</h1>
<p>The service is running without its dashboard. In the source folder, run</p>
<pre>npm run build:web</pre>
<p>and reload this page. The service does not need a restart.</p>
<p>The APIs are available: see the <a href="/docs">REST API reference</a>; the control API is under
<code>/api/v1</code>.</p>
</main>
</body>
</html>
`;
