/** One figure of the group `rss`: `node one-rss.js SETUP`, the setup as JSON, prints it as JSON. */
import { measureRss, type RssSetup } from './product.ts'

console.log(JSON.stringify(await measureRss(JSON.parse(process.argv[2]) as RssSetup)))
