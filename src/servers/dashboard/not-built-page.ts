/** What stands where the dashboard was not built: in a clone of the sources, before its first build. */
export const notBuiltPage = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Solway: the dashboard is not built</title>
</head>
<body>
<main>
<h1>The dashboard is not built yet</h1>
<p>The service is running; only its pages are missing. In the folder of the sources, run</p>
<pre>npm run build:web</pre>
<p>and load this page again. The service need not be restarted.</p>
<p>The doors work meanwhile: <a href="/docs">the REST interface</a> describes itself, and the control API is under
<code>/api/v1</code>.</p>
</main>
</body>
</html>
`;
