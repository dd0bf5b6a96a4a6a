#!/usr/bin/env node
// Proves the deals of game records, from docs/protocol.md and docs/records.md alone: nothing but node:crypto and node:fs.
//
//     node verify.mjs RECORDS.jsonl …
//
// It follows every card from the shuffled pack through hands, pile and stock, but it does not know what may be melded:
// `rummy500 verify` does. Exit code 0: all records hold; 1: one does not; 2: a file is no record.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

class Differs extends Error {}
class NoRecord extends Error {}

// --- docs/protocol.md: the shuffle, and a fair deal

const FACES = [..."CDHS"].flatMap((suit) => [..."A23456789TJQK"].map((rank) => rank + suit));
const sha256 = (...parts) => parts.reduce((hash, part) => hash.update(part), createHash("sha256")).digest();
const derive = (secret, ...path) => sha256(secret, ...path.map((part) => `\0${part}`));

function* words(seed, stream) {
  const counter = Buffer.alloc(8);
  counter.writeUInt32BE(stream, 0);
  for (let block = 0; ; block += 1) {
    counter.writeUInt32BE(block, 4);
    const bytes = sha256(seed, counter);
    for (let at = 0; at < 32; at += 4) yield bytes.readUInt32BE(at);
  }
}

export function shuffle(seed, cards, stream = 0) {
  const order = [...cards];
  const numbers = words(seed, stream);
  for (let last = order.length - 1; last > 0; last -= 1) {
    const choices = last + 1;
    let word;
    do word = numbers.next().value;
    while (word >= 2 ** 32 - (2 ** 32 % choices));
    const chosen = word % choices;
    [order[last], order[chosen]] = [order[chosen], order[last]];
  }
  return order;
}

const roundSecret = (secret, round) => (round === 0 ? secret : derive(secret, "round", round));

function roundSeed(secret, round, entropy) {
  let seed = roundSecret(secret, round);
  entropy.forEach((added, seat) => {
    if (added !== "") seed = derive(seed, "entropy", seat, added);
  });
  return seed;
}

const commitment = (secret, place, round) =>
  derive(roundSecret(secret, round), "commitment", place, round).toString("hex");

// --- docs/records.md: the lines of a record

// Numbers become texts with a mark before them, so that those beyond 2^53 keep their digits.
const MARK = "\u0000";
const TOKENS = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

function parsed(text) {
  try {
    return JSON.parse(text.replace(TOKENS, (token) => (token[0] === '"' ? token : JSON.stringify(MARK + token))));
  } catch (error) {
    throw new NoRecord(`this is no JSON: ${error.message}`);
  }
}

function plain(value) {
  if (typeof value === "string") return value[0] === MARK ? Number(value.slice(1)) : value;
  if (Array.isArray(value)) return value.map(plain);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plain(inner)]));
}

function canonical(value) {
  if (typeof value === "string") return value[0] === MARK ? value.slice(1) : JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const keys = Object.keys(value).sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join(",")}}`;
}

const digestOf = (lines) =>
  sha256(...lines.map(({ times, digest, ...bare }) => `${canonical(bare)}\n`)).toString("hex");

// --- following the cards

const cardsOf = (text) => (text === "" ? [] : text.split(" ").map((card) => card.replace(/=.*/, "")));
const sorted = (cards) => [...cards].sort().join(" ");

function must(holds, sentence) {
  if (!holds) throw new Differs(sentence);
}

function takeOut(cards, wanted, what) {
  for (const card of wanted) {
    const at = cards.indexOf(card);
    must(at >= 0, `${card} is not in ${what}`);
    cards.splice(at, 1);
  }
}

class Follower {
  constructor(game) {
    must(/^[0-9a-f]{64}$/.test(game.seed), "the seed has 64 hexadecimal digits");
    this.secret = Buffer.from(game.seed, "hex");
    this.fair = game.fair;
    this.actions = 0;
    this.round = 0;
    this.position = game.position !== undefined;
    this.aligned = game.draws === "aligned";
    must(this.aligned || game.draws === undefined, "draws are aligned, or nothing is said of them");
    must(!this.aligned || !this.position, "nothing is dealt from a position");
    const format = this.aligned ? 3 : this.fair === undefined ? 1 : 2;
    must(game.format === format, `format ${game.format} is not that of this record`);
    if (this.fair === undefined) return;
    must(!this.position && (game.match?.seed ?? null) === null, "no deal is fair from a given seed or position");
    const { place, entropy } = this.fair;
    must(entropy.length === game.players.length, "entropy is given for each seat");
    must(entropy.every((added) => /^([0-9a-f]{64})?$/.test(added)), "entropy has 64 hexadecimal digits, or none");
    must(this.fair.commitment === commitment(this.secret, place, 0), "the commitment is not one to this secret");
  }

  deal(line) {
    this.round += 1;
    must(line.round === this.round, `round ${line.round} is not the next one`);
    if (this.fair !== undefined) {
      const expected = commitment(this.secret, this.fair.place, this.round);
      must(line.commitment === expected, "the commitment is not one to the secret of this round");
    }
    this.seed = roundSeed(this.secret, this.round, this.fair?.entropy ?? []);
    this.hands = line.hands.map(cardsOf);
    this.stock = cardsOf(line.stock);
    this.pile = line.up_card === null ? [] : [line.up_card];
    this.shares = this.sharesOf(this.stock);
    this.recycled = 0;
    const all = [...this.hands.flat(), ...this.pile, ...this.stock];
    const count = (wanted) => all.filter((card) => card === wanted).length;
    const decks = count("AC");
    const jokers = Array(count("JK") / decks).fill("JK");
    const order = shuffle(this.seed, Array(decks).fill([...FACES, ...jokers]).flat());
    const [seats, first] = [this.hands.length, (line.dealer + 1) % this.hands.length];
    const dealt = this.hands.map(() => []);
    const size = this.hands[line.dealer].length;
    for (let index = 0; index < size * seats; index += 1) dealt[(first + index) % seats].push(order.shift());
    if (line.up_card === null) dealt[first].push(order.shift());
    else must(order.shift() === line.up_card, "another card is turned up by this seed");
    dealt.forEach((hand, seat) => must(hand.join() === this.hands[seat].join(), `seat ${seat} has another hand`));
    must(order.join() === this.stock.join(), "the stock is another by this seed");
  }

  action(line) {
    this.actions += 1;
    must(line.action === this.actions, `action ${line.action} is not the next one`);
    if (this.position) return;
    const [verb, card] = line.text.split(" ");
    if (verb === "discard" && line.refused === undefined) {
      takeOut(this.hands[line.seat], [card], `the hand of seat ${line.seat}`);
      this.pile.push(card);
    }
    const events = line.events ?? [];
    const kinds = events.map((event) => event.event);
    if (verb === "draw") must(kinds.includes("drew"), "a draw tells the card that was drawn");
    if (verb === "take") must(kinds.includes("took"), "a take tells the cards that were taken");
    for (const event of events) this.event(event, line.text);
  }

  event(event, text) {
    const hand = this.hands[event.seat];
    const where = `the hand of seat ${event.seat}`;
    switch (event.event) {
      case "drew":
        this.draw(event);
        break;
      case "took":
        hand.push(...this.taken(cardsOf(event.cards), text));
        break;
      case "melded":
        takeOut(hand, cardsOf(event.cards), where);
        break;
      case "laid_off":
        takeOut(hand, cardsOf(event.card), where);
        break;
      case "exchanged":
        takeOut(hand, [event.card], where);
        hand.push("JK");
        break;
      case "stock_recycled":
        this.recycle(event);
        break;
    }
  }

  // Whose draws are aligned: each seat has the places k, k + n, … of the stock, in a table of n seats.
  sharesOf(stock) {
    if (!this.aligned) return null;
    return this.hands.map((_, seat) => stock.filter((_, place) => place % this.hands.length === seat));
  }

  draw(event) {
    const own = this.shares === null ? this.stock : this.shares[event.seat];
    let card = own.shift();
    if (card === undefined && this.shares !== null) {
      const most = Math.max(...this.shares.map((share) => share.length));
      card = this.shares.find((share) => share.length === most).pop();
    }
    must(card !== undefined && card === event.card, `the stock gives ${card ?? "no card"}`);
    this.hands[event.seat].push(card);
  }

  get inStock() {
    return this.shares === null ? this.stock.length : this.shares.flat().length;
  }

  taken(cards, text) {
    const place = /@(\d+)/.exec(text);
    const at = cards.length > 1 || text.startsWith("take") ? this.pile.length - cards.length
      : place !== null ? Number(place[1]) - 1 : this.pile.lastIndexOf(cards[0]);
    must(cards.length > 0 && at >= 0, "these cards are not in the pile");
    const taken = this.pile.splice(at, cards.length);
    must(taken.join() === cards.join(), `the pile gives ${taken.join(" ")}`);
    return taken;
  }

  recycle(event) {
    this.recycled += 1;
    must(this.inStock === 0, "the stock is not empty yet");
    const top = this.pile.pop();
    this.stock = event.shuffled ? shuffle(this.seed, this.pile, this.recycled) : this.pile;
    this.shares = event.shuffled ? this.sharesOf(this.stock) : null;
    this.pile = [top];
    must(this.stock.length === event.stock_count, `the stock has ${this.stock.length} cards now`);
  }

  scored(line) {
    must(line.round === this.round || this.position, `round ${line.round} is not the one that is on`);
    if (this.position) return;
    line.scores.forEach((score, seat) =>
      must(sorted(cardsOf(score.hand)) === sorted(this.hands[seat]), `seat ${seat} holds ${this.hands[seat].join(" ")}`),
    );
  }
}

function verify(record) {
  let number = record.first;
  try {
    const lines = record.lines.map(plain);
    const follower = new Follower(lines[0]);
    for (const line of lines.slice(1)) {
      number += 1;
      must(lines[number - record.first - 1].type !== "end", "the record goes on after its end");
      if (line.type === "deal") follower.deal(line);
      else if (line.type === "action") follower.action(line);
      else if (line.type === "round") follower.scored(line);
      else must(["clock", "take_over", "give_back", "forfeit", "end"].includes(line.type), `there is no line of type ${line.type}`);
    }
    const end = lines[lines.length - 1];
    must(end.type === "end", "the record breaks off after this line");
    must(end.actions === follower.actions, `there are ${follower.actions} actions`);
    must(end.digest === digestOf(record.lines), "a line of this record was changed after it was written");
    if (follower.position) return "set up from a given position";
    return follower.fair === undefined ? "reproducible from a given seed" : "fair deal proven";
  } catch (error) {
    if (error instanceof Differs) throw new Differs(`line ${number}: ${error.message}`);
    if (error instanceof TypeError || error instanceof RangeError) throw new Differs(`line ${number}: ${error.message}`);
    throw error;
  }
}

// --- files

function recordsOf(text) {
  const records = [];
  text.split("\n").filter((line) => line !== "").forEach((line, index) => {
    const found = parsed(line);
    if (found.type === "game") records.push({ first: index + 1, lines: [] });
    if (records.length === 0) throw new NoRecord("a record begins with a line of type game");
    records[records.length - 1].lines.push(found);
  });
  if (records.length === 0) throw new NoRecord("there is no record in the file");
  return records;
}

function verifyFile(path) {
  try {
    const counts = new Map();
    for (const record of recordsOf(readFileSync(path, "utf8"))) {
      const proof = verify(record);
      counts.set(proof, (counts.get(proof) ?? 0) + 1);
    }
    console.log(`${path}: ${[...counts].map(([proof, count]) => `${count} ${proof}`).join(", ")}`);
    return 0;
  } catch (error) {
    console.log(`${path}: ${error.message}`);
    return error instanceof Differs ? 1 : 2;
  }
}

const paths = process.argv.slice(2);
if (paths.length === 0) console.error("which records? node verify.mjs RECORDS.jsonl …");
process.exitCode = paths.length === 0 ? 2 : Math.max(...paths.map(verifyFile));
