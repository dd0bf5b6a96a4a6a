// A bot that knows nothing but the .proto files: it makes a table, plays a game against a built-in bot over
// PlayService.Play, is refused once on purpose, loses its connection once on purpose, and resumes.
//
//   node bot.js --server localhost:50500 [--target 100] [--proto ../../../proto]
//
// The last line is a JSON object: how the game ended, and how often it was refused and resumed.

import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

import grpc from "@grpc/grpc-js";
import protoLoader from "@grpc/proto-loader";

const here = dirname(fileURLToPath(import.meta.url));
const { values: options } = parseArgs({
  options: {
    server: { type: "string", default: process.env.RUMMY500_SERVER ?? "localhost:50500" },
    proto: { type: "string", default: join(here, "..", "..", "..", "proto") },
    name: { type: "string", default: `node-${randomBytes(3).toString("hex")}` },
    opponent: { type: "string", default: "easy" },
    target: { type: "string", default: "100" },
  },
});

const loaded = protoLoader.loadSync(
  ["play_service.proto", "table_service.proto"].map((file) => `rummy500/v1/${file}`),
  { includeDirs: [options.proto], keepCase: true, longs: String, enums: String, defaults: true, oneofs: true },
);
const { rummy500 } = grpc.loadPackageDefinition(loaded);
// With RUMMY500_CA, the file of the CA that signs the server's certificate, the connection has TLS.
const ca = process.env.RUMMY500_CA;
const credentials = ca ? grpc.credentials.createSsl(readFileSync(ca)) : grpc.credentials.createInsecure();
const plays = new rummy500.v1.PlayService(options.server, credentials);
const tables = new rummy500.v1.TableService(options.server, credentials);

// The token is who we are: the owner of the table and the player of the seat. The server never sends it back. A server
// that asks for tokens that it knows wants one with the role host here, for it makes the table and plays it too.
const authorization = new grpc.Metadata();
authorization.set("authorization", `Bearer ${process.env.RUMMY500_TOKEN ?? randomBytes(24).toString("base64url")}`);

function ask(client, method, request) {
  const deadline = new Date(Date.now() + 30_000);
  return new Promise((resolve, reject) => {
    client[method](request, authorization, { deadline }, (error, response) => (error ? reject(error) : resolve(response)));
  });
}

async function makeTable() {
  const rules = { options: [{ name: "target", value: options.target }] };
  const { table } = await ask(tables, "CreateTable", { seats: 2, rules, title: "a game with Node" });
  await ask(tables, "AddBot", { table: table.name, connected: options.name });
  await ask(tables, "AddBot", { table: table.name, builtin: { name: options.opponent } });
  await ask(tables, "StartTable", { table: table.name });
  return table.name;
}

const rules = new Map(); // digest -> the full rules
const seen = new Map(); // table -> the last sequence, to resume from
const told = { refused: 0, resumed: 0, decisions: 0 };
let stream;
let wantsRefusal = true;
let wantsCut = true;
let isOver = false;

const faces = new Map(loaded["rummy500.v1.Card"].type.value.map(({ name, number }) => [name, number]));

function points(request, card) {
  return rules.get(request.rules_digest).hand_points[faces.get(card)];
}

// What to do: meld, else lay off, else draw, else throw the dearest card. The legal actions are complete.
function choose(request) {
  const legal = request.view.legal_actions;
  if (legal.melds.length) {
    const { readings, ...meld } = legal.melds[0];
    return { lay_meld: { ...meld, ...readings[0] } };
  }
  if (legal.lay_offs.length) return { lay_off: legal.lay_offs[0] };
  if (legal.can_draw) return { draw: {} };
  if (legal.discards.length) {
    const dearest = legal.discards.reduce((best, card) => (points(request, card) > points(request, best) ? card : best));
    return { discard: { card: dearest } };
  }
  if (legal.can_pass) return { passing: {} };
  if (legal.takes.length) return { take: legal.takes[0] };
  throw new Error("the server asks, but nothing is legal");
}

function answer(request) {
  seen.set(request.table, request.sequence);
  told.decisions += 1;
  if (request.refusal) console.log(`asked again after ${request.refusal.code}`);
  const wrong = wantsRefusal;
  wantsRefusal = false;
  // A line of the notation does as well as a message; these three cards are no meld.
  const action = wrong ? { text: "meld AC 3D 5H" } : choose(request);
  return { table: request.table, sequence: request.sequence, actions: [action] };
}

function receive(response, finish) {
  if (response.welcome) console.log(`connected to server ${response.welcome.server_version}`);
  for (const game of response.games_started) {
    if (game.rules) rules.set(game.rules_digest, game.rules);
    seen.set(game.table, seen.get(game.table) ?? "0");
    console.log(`table ${game.table}: seat ${game.seat}, ${game.players.join(" against ")}`);
  }
  for (const resumed of response.resumed) {
    told.resumed += 1;
    console.log(`table ${resumed.table}: resumed with ${resumed.kind}`);
  }
  for (const refused of response.refusals) {
    told.refused += 1;
    console.log(`refused: ${refused.refusal.code}: ${refused.refusal.sentence}`);
  }
  if (response.decision_requests.length) {
    if (wantsCut && told.decisions >= 5) {
      wantsCut = false;
      console.log("cutting the connection");
      stream.cancel();
      return;
    }
    stream.write({ decisions: response.decision_requests.map(answer) });
  }
  for (const over of response.games_over) {
    isOver = true;
    finish(over);
  }
}

// Opens the stream, and opens it again when it is lost, until a game is over.
function play(onWelcome) {
  return new Promise((resolve, reject) => {
    let wait = 100;
    const giveUp = Date.now() + 60_000;
    function open() {
      stream = plays.Play(authorization);
      const resume = [...seen].map(([table, after_sequence]) => ({ table, after_sequence }));
      stream.write({ hello: { name: options.name, resume, program: "node-example/0.1.0" } });
      stream.on("data", (response) => {
        wait = 100;
        if (response.welcome) onWelcome().catch(reject);
        try {
          receive(response, resolve);
        } catch (error) {
          reject(error);
        }
      });
      let isLost = false;
      const lost = (error) => {
        if (isLost || isOver) return;
        isLost = true;
        const mayComeBack = [grpc.status.CANCELLED, grpc.status.UNAVAILABLE, grpc.status.INTERNAL, grpc.status.UNKNOWN];
        if (error && !mayComeBack.includes(error.code)) return reject(error);
        if (Date.now() > giveUp) return reject(new Error(`no server answers at ${options.server}`));
        setTimeout(open, wait);
        wait = Math.min(2 * wait, 5000);
      };
      stream.on("error", lost);
      stream.on("end", () => lost(null));
    }
    open();
  });
}

let isMade = false;
async function onWelcome() {
  if (isMade) return;
  isMade = true;
  await makeTable();
}

try {
  const over = await play(onWelcome);
  stream.end();
  plays.close();
  tables.close();
  const { termination, winners, totals } = over.result;
  console.log(JSON.stringify({ table: over.table, termination, winners, totals, ...told }));
} catch (error) {
  console.error(`the game could not be played: ${error.details ?? error.message}`);
  process.exitCode = 1;
}
