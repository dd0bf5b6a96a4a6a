from tests.playthroughs.transcript import write_all

write_all()
